package scenarios

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// YAML is the scenario as a file that Parse reads back to the same Scenario.
// The values of headers that carry credentials are left out, since files of
// scenarios are passed around; the keys that the server knows as well.
func (s *Scenario) YAML() []byte {
	w := &writer{}
	w.text("name", s.Name)
	w.text("target", s.Target)
	w.request(s.Request)
	w.line("limits:")
	for _, l := range s.Limits {
		w.limit(l)
	}
	w.line("phases:")
	for _, p := range s.Phases {
		w.line("  - %s", p.flow())
	}
	if len(s.Actions) > 0 {
		w.line("actions:")
	}
	for _, a := range s.Actions {
		w.line("  - %s", a.flow())
	}
	if len(s.Checks) > 0 {
		w.line("checks: [%s]", strings.Join(s.Checks, ", "))
	}
	if s.Wanted != 0 {
		w.line("resolution: %s", percent(s.Wanted))
	}
	if s.Timeout != 0 {
		w.line("timeout: %v", s.Timeout)
	}
	if s.LateBy != 0 {
		w.line("retry-after: {late-by: %v}", s.LateBy)
	}
	if s.Draft != 0 {
		w.line("headers: {draft: %d}", s.Draft)
	}
	w.line("seed: %d", s.Seed)
	return []byte(w.String())
}

type writer struct{ strings.Builder }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// text writes a quoted text, and nothing when it is empty.
func (w *writer) text(name, value string) {
	if value != "" {
		w.line("%s: %s", name, strconv.Quote(value))
	}
}

func (w *writer) request(r Request) {
	if r.Method == "" && r.Body == "" && len(r.Headers) == 0 {
		return
	}
	w.line("request:")
	w.text("  method", r.Method)
	if len(r.Headers) > 0 {
		w.line("  headers:")
		for _, h := range r.Headers {
			w.line("    - %s", strconv.Quote(h.Name+": "+shown(h)))
		}
	}
	w.text("  body", r.Body)
}

// LeftOut stands for the value of a header that may be a credential.
const LeftOut = "(left out)"

// shown is a header's value, or a stand-in where it may be a credential.
func shown(h Header) string {
	n := strings.ToLower(h.Name)
	for _, secret := range []string{"auth", "cookie", "key", "token", "secret", "password"} {
		if strings.Contains(n, secret) {
			return LeftOut
		}
	}
	return h.Value
}

func (w *writer) limit(l Limit) {
	w.line("  - key: %s", strconv.Quote(l.Key.String()))
	w.text("    name", l.Name)
	w.text("    contract", string(l.Contract))
	w.text("    align", string(l.Align))
	if l.Burst != 0 {
		w.line("    burst: %d", l.Burst)
	}
	if l.Rate.Count != 0 {
		w.line("    rate: %v", l.Rate)
	}
	w.text("    admitted", l.Answers.Admitted.String())
	w.text("    limited", l.Answers.Limited.String())
	w.text("    cost-header", l.CostHeader)
	w.text("    cost-body", l.CostBody)
	w.line("    slack: {quantum: %v, over: %s, under: %s}", l.Slack.Quantum, percent(l.Slack.Over), percent(l.Slack.Under))
}

// flow is a phase on one line.
func (p *Phase) flow() string {
	parts := []string{"name: " + strconv.Quote(p.Name)}
	add := func(set bool, format string, args ...any) {
		if set {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	if p.At != nil {
		add(true, "at: %v", *p.At)
	}
	add(p.Rest != 0, "rest: %v", p.Rest)
	add(p.Volley != 0, "volley: %d", p.Volley)
	add(p.Every != 0, "every: %v", p.Every)
	add(p.Pace.Count != 0, "pace: %v", p.Pace)
	add(p.Count != 0, "count: %d", p.Count)
	add(p.Cost != 0, "cost: %d", p.Cost)
	add(p.Attack != TacticNone, "attack: %v", p.Attack)
	add(p.Saturate != 0, "saturate: %d", p.Saturate)
	add(p.For != 0, "for: %v", p.For)
	add(p.Rounds != 0, "rounds: %d", p.Rounds)
	add(p.Against != "", "against: %s", strconv.Quote(p.Against))
	switch {
	case p.Keys.Of != "":
		add(true, "keys: %s", strconv.Quote(p.Keys.Of))
	case p.Keys.Fresh != 1 && len(p.Arrivals) == 0:
		add(p.fires(), "keys: %d", p.Keys.Fresh)
	}
	add(p.Retry != RetryNone, "retry: %v", p.Retry)
	add(p.Tries != 0, "tries: %d", p.Tries)
	add(!p.Vary.None(), "vary: %s", p.Vary.flow())
	add(p.Apart, "connections: each")
	add(p.Held, "release: last-byte")
	add(len(p.Arrivals) > 0, "arrivals: %s", flowOf(p.Arrivals))
	return "{" + strings.Join(parts, ", ") + "}"
}

// flow is what is varied, on one line.
func (v Vary) flow() string {
	var parts []string
	var values []string
	for _, s := range v.Values {
		values = append(values, strconv.Quote(s))
	}
	list := "[" + strings.Join(values, ", ") + "]"
	switch v.Part {
	case PartHeader, PartQuery, PartCookie:
		if parts = []string{string(v.Part) + ": " + strconv.Quote(v.Name)}; len(values) > 0 {
			parts = append(parts, "value: "+list)
		}
	case PartConnection:
		parts = []string{fmt.Sprintf("connections: %d", v.Connections)}
	case PartAddress:
		parts = []string{"address: within"}
	default:
		parts = []string{string(v.Part) + ": " + list}
	}
	if v.Other != "" {
		parts = append(parts, "other: "+strconv.Quote(v.Other))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// percent is parts per million as ParsePercent reads them.
func percent(ppm int64) string {
	return strconv.FormatFloat(float64(ppm)/10_000, 'f', -1, 64) + "%"
}

// varied is what a shot has of what is varied.
func (p Plan) varied(s Shot) string {
	a := p.Ask(s)
	switch a.Vary.Part {
	case PartConnection:
		return strconv.Itoa(a.Line())
	case PartAddress:
		return strconv.Itoa(a.Turn)
	}
	text := strings.ReplaceAll(a.Vary.Text(a.Turn), "{key}", a.Key)
	return strings.ReplaceAll(text, "{other}", a.Other)
}

// String lists the plan as Print does.
func (p Plan) String() string {
	var w strings.Builder
	_ = p.Print(&w) // a builder has no error
	return w.String()
}

// Print lists the plan, a line each shot, behind what is not a shot: byte for byte the
// same for the same scenario and supply of keys. The error is the writer's.
func (p Plan) Print(to io.Writer) error {
	w := bufio.NewWriter(to)
	for _, wait := range p.Waits {
		fmt.Fprintf(w, "# %s waits %v %s\n", p.Phases[wait.Phase], wait.Length.Round(time.Millisecond), wait.Why)
	}
	for _, a := range p.Attacks {
		fmt.Fprintf(w, "# from %.9f, %s on %s: %v\n", float64(a.At)/1e9, p.Phases[a.Phase], p.Keys[a.Key], a)
	}
	for _, s := range p.Floods {
		fmt.Fprintf(w, "# from %.9f, %s on %s: %v\n", float64(s.At)/1e9, p.Phases[s.Phase], p.Keys[s.Key], s)
	}
	for _, a := range p.Actions {
		fmt.Fprintf(w, "# at %.9f, %v\n", a.At.Seconds(), a)
	}
	for s := range p.Shots.All() {
		fmt.Fprintf(w, "%d\t%.9f\t%s\t%s", s.Seq, float64(s.At)/1e9, p.Phases[s.Phase], p.Keys[s.Key])
		if s.Volley != 0 {
			fmt.Fprintf(w, "\tvolley %d", s.Volley)
		}
		if s.Cost > 1 {
			fmt.Fprintf(w, "\tcost %d", s.Cost)
		}
		if s.Turn > 0 {
			fmt.Fprintf(w, "\t%v %s", p.Varied[s.Phase], p.varied(s))
		}
		switch {
		case s.Retry == RetryObey:
			w.WriteString("\tthen obeys Retry-After")
		case s.Retry != RetryNone:
			fmt.Fprintf(w, "\tthen %v", s.Retry)
		}
		if err := w.WriteByte('\n'); err != nil {
			return err
		}
	}
	return w.Flush()
}
