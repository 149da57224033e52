package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// Style is how text is written for the place it goes to. The zero Style is
// plain ASCII of 100 columns, for logs.
type Style struct {
	Colour  bool
	Unicode bool
	Width   int  // columns; 0: 100
	Wrap    bool // lines longer than Width are broken
	Quiet   bool // what was kept or not asked is left out
}

const (
	red, green, yellow, faint, reset = "\x1b[1;31m", "\x1b[1;32m", "\x1b[1;33m", "\x1b[2m", "\x1b[0m"
)

// Text writes a report for a person. Its first line is the answer.
func Text(w io.Writer, r *Report, s Style) error {
	r = r.Plain()
	if s.Width == 0 {
		s.Width = 100
	}
	p := &page{style: s}
	p.hang(p.status(r.Status, results.Must)+"  ", r.Headline)
	p.line("")
	p.facts(r)
	p.line("")
	p.findings(r)
	p.strip(r)
	for i, f := range r.Findings {
		if f.Status == results.Broken {
			p.evidence(&r.Findings[i], hitsOf(r, i), r.Recheck, r.Client(f.Key))
		}
	}
	for _, n := range r.Notes {
		p.hang("note: ", n)
	}
	if r.Folder != "" {
		p.line("record: %s", r.Folder)
	}
	_, err := io.WriteString(w, p.out.String())
	return err
}

func hitsOf(r *Report, i int) []results.Hit {
	if i < len(r.Evidence) {
		return r.Evidence[i]
	}
	return nil
}

type page struct {
	style Style
	out   strings.Builder
}

func (p *page) line(format string, args ...any) {
	p.out.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " "))
	p.out.WriteByte('\n')
}

func (p *page) colour(code, text string) string {
	if !p.style.Colour {
		return text
	}
	return code + text + reset
}

// status is a status as the reader looks for it. What does not weigh in is not shouted.
func (p *page) status(s results.Status, l results.Level) string {
	switch {
	case s == results.Broken && l == results.Must:
		return p.colour(red, "BROKEN")
	case s == results.Broken:
		return p.colour(yellow, "advice")
	case s == results.Kept && l == results.Info: // nothing was promised of it
		return p.colour(faint, "told")
	case s == results.Kept:
		return p.colour(green, "KEPT")
	case l == results.Info:
		return p.colour(faint, "not asked")
	}
	return p.colour(yellow, "INCONCLUSIVE")
}

func (p *page) facts(r *Report) {
	target := r.Target
	if r.Server != "" {
		target += "  (" + r.Server + ")"
	}
	p.hang("  target   ", target)
	for _, promise := range r.Promise {
		p.hang("  promise  ", promise)
	}
	if r.Replay != nil {
		p.hang("  replay   ", r.Replay.Text)
	}
	n := r.Run
	of := "planned"
	if n.Stopped != "" {
		of = "that came due"
	}
	if by, ok := strings.CutPrefix(n.Path, results.RecordedBy); ok {
		p.hang("  record   ", fmt.Sprintf("%d requests in %s, from %s: %s", n.Sent, seconds(n.LastedNS), by, outcomes(n)))
	} else {
		p.fired(n, of)
	}
	for _, res := range r.Resolutions {
		p.hang("  sight    ", sight(r, res))
	}
}

func (p *page) fired(n results.Run, of string) {
	p.hang("  fired    ", fmt.Sprintf("%d of %d %s in %s: %s", n.Sent, n.Planned, of, seconds(n.LastedNS), outcomes(n)))
	p.hang("  load     ", fmt.Sprintf("offered burst %s, planned %s; lateness p50 %s, p99 %s; %d missed, %d in flight at the end; path %s",
		short(n.OfferedBurst), short(n.PlannedBurst), span(n.Lateness.P50NS), span(n.Lateness.P99NS), n.Missed, n.InFlight, n.Path))
}

func outcomes(n results.Run) string {
	s := fmt.Sprintf("%d admitted, %d limited", n.Admitted, n.Limited)
	if n.Other > 0 {
		s += fmt.Sprintf(", %d other", n.Other)
	}
	if n.Unknown > 0 {
		s += fmt.Sprintf(", %d unknown", n.Unknown)
	}
	return s
}

// sight says which errors the run would have caught, and in which of several limits.
func sight(r *Report, res results.Resolution) string {
	if res.Limit == "" || len(r.Promise) < 2 {
		return resolved(res)
	}
	return res.Limit + ": " + resolved(res)
}

// resolved says which errors the run would have caught.
func resolved(r results.Resolution) string {
	if r.Unbound {
		return "a best-effort limit promises nothing that could be caught; what it does against its numbers is told"
	}
	if r.Refuted {
		return "none: the promise itself is refuted"
	}
	burst, rate := "no error in the burst would have been caught", "no error in the rate would have been caught"
	switch {
	case r.BurstLow != nil && r.BurstHigh != nil:
		burst = fmt.Sprintf("a burst of %d or less, %d or more would have been caught", *r.BurstLow, *r.BurstHigh)
	case r.BurstLow != nil:
		burst = fmt.Sprintf("a burst of %d or less would have been caught, no larger one", *r.BurstLow)
	case r.BurstHigh != nil:
		burst = fmt.Sprintf("a burst of %d or more would have been caught, no smaller one", *r.BurstHigh)
	}
	switch {
	case r.RateLow != nil && r.RateHigh != nil:
		rate = fmt.Sprintf("a rate of %s/s or less, %s/s or more too (%s %%)", rateText(*r.RateLow), rateText(*r.RateHigh), short(*r.RatePct))
	case r.RateLow != nil:
		rate = fmt.Sprintf("a rate of %s/s or less too, no faster one", rateText(*r.RateLow))
	case r.RateHigh != nil:
		rate = fmt.Sprintf("a rate of %s/s or more too, no slower one", rateText(*r.RateHigh))
	}
	return burst + "; " + rate
}

// asserted is what a finding is of.
func asserted(r *Report, f results.Finding) string {
	if f.Limit != "" && len(r.Promise) > 1 {
		return f.Check + " (" + f.Limit + ")"
	}
	return f.Check
}

func (p *page) findings(r *Report) {
	last := -1
	for i, f := range r.Findings {
		if f.Status == results.Broken && f.Level == results.Must {
			last = i
		}
	}
	width := 20
	for _, f := range r.Findings {
		width = max(width, len(asserted(r, f)))
	}
	for i, f := range r.Findings {
		if i == last+1 {
			p.causes(r)
		}
		if p.style.Quiet && f.Status != results.Broken {
			continue
		}
		mark := p.status(f.Status, f.Level)
		pad := strings.Repeat(" ", max(0, 14-visible(mark)))
		p.hang(fmt.Sprintf("  %s%s%-*s ", mark, pad, min(width, 40), asserted(r, f)), f.Text)
	}
	if last == len(r.Findings)-1 {
		p.causes(r)
	}
	p.line("")
}

// causes says behind what is broken what it probably comes from. The others
// that fit are named in the first one's text.
func (p *page) causes(r *Report) {
	if len(r.Causes) == 0 {
		return
	}
	p.hang("  "+p.colour(yellow, "likely cause")+"  ", r.Causes[0].Text)
	for _, reason := range r.Causes[0].Reasons {
		p.hang("                ", reason)
	}
}

// hang writes a text behind a label, and its further lines under its first one
// where the width of the page is known.
func (p *page) hang(label, text string) {
	if !p.style.Wrap || text == "" {
		p.line("%s%s", label, text)
		return
	}
	indent := visible(label)
	room := p.style.Width - indent
	if room < 20 { // below the label then
		p.line("%s", label)
		label, indent, room = "    ", 4, max(p.style.Width-4, 20)
	}
	for _, word := range wrapped(text, room) {
		p.line("%s%s", label, word)
		label = strings.Repeat(" ", indent)
	}
}

// wrapped is a text in lines of at most room columns, broken at spaces.
func wrapped(text string, room int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case visible(line)+1+visible(word) <= room:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}

// visible is how many columns a text takes, colours left out.
func visible(s string) int {
	n, escaped := 0, false
	for _, c := range s {
		switch {
		case c == '\x1b':
			escaped = true
		case escaped:
			escaped = c != 'm'
		default:
			n++
		}
	}
	return n
}

func (p *page) strip(r *Report) {
	if r.Strip == nil || r.Run.Sent == 0 {
		return
	}
	ramp := []rune(" .:-=+*#%@")
	if p.style.Unicode {
		ramp = []rune(" ▁▂▃▄▅▆▇█")
	}
	columns := min(max(p.style.Width-14, 20), 120)
	rows := []struct {
		outcome results.Outcome
		name    string
		colour  string
	}{{results.Admitted, "admitted", green}, {results.Limited, "limited", yellow}, {results.Other, "other", red}, {results.Unknown, "unknown", red}}
	drawn := 0
	for _, row := range rows {
		if row.outcome == results.Admitted || row.outcome == results.Limited || r.Strip.seen(row.outcome) {
			text := r.Strip.line(row.outcome, columns, ramp)
			drawn = max(drawn, len([]rune(text)))
			p.line("  %-9s |%s|", row.name, p.colour(row.colour, text))
		}
	}
	end := seconds(int64(r.Strip.last+1) * r.Strip.width)
	p.line("            0%s%s", strings.Repeat(" ", max(1, drawn-len(end)-1)), end)
	p.line("")
}

func (p *page) evidence(f *results.Finding, hits []results.Hit, recheck, client string) {
	where := ""
	if f.Key != "" {
		where = " on key " + f.Key
	}
	p.line("%s%s, from %s to %s", f.Check, where, seconds(f.FromNS), seconds(f.ToNS))
	if client != "" {
		p.hang("  ", client)
	}
	if f.Proof != "" {
		p.hang("  ", f.Proof)
	}
	p.hits(hits, f)
	if recheck != "" {
		p.line("  check it again: %s", recheck)
	}
	p.line("")
}

// hits shows the first and last requests of a proof.
func (p *page) hits(hits []results.Hit, f *results.Finding) {
	const most = 12
	if len(hits) == 0 {
		return
	}
	// Where a proof is about several keys, each request says on which it was sent.
	named := f.Key == "" && slices.ContainsFunc(hits, func(h results.Hit) bool { return h.Key != hits[0].Key })
	p.line("  %8s %12s %12s  %-8s %s", "request", "sent", "answered", "answer", "")
	for i := range hits {
		if len(hits) > most && i == most/2 {
			p.line("  %8s %d more", "...", max(len(f.Seqs), len(hits))-most)
		}
		if len(hits) > most && i >= most/2 && i < len(hits)-most/2 {
			continue
		}
		columns, more := hitLine(&hits[i])
		if named {
			more = strings.TrimSpace("key " + hits[i].Key + "  " + more)
		}
		p.hang(columns, more)
	}
}

// hitLine is a request in columns, and what else there is to say of it.
func hitLine(h *results.Hit) (columns, more string) {
	answered, extra := "never", ""
	if h.Answered() {
		answered = seconds(h.First)
	}
	if h.RetryAfter != "" {
		extra = "Retry-After: " + h.RetryAfter
	}
	if h.Obeyed != 0 {
		extra += fmt.Sprintf(" (after waiting as request %d was told)", h.Obeyed)
	}
	if h.Err != "" {
		extra += " " + h.Err
	}
	columns = fmt.Sprintf("  %8d %12s %12s  %-12s ", h.Seq, seconds(h.Sent), answered, fmt.Sprintf("%d %s", h.Status, h.Outcome))
	return columns, strings.TrimSpace(extra)
}

// seconds is a moment or length in seconds, to the microsecond.
func seconds(ns int64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.6f", float64(ns)/1e9), "0"), ".") + " s"
}

// span is a short length in the unit that suits it.
func span(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d < 10*time.Microsecond:
	case d < 10*time.Millisecond:
		d = d.Round(time.Microsecond)
	default:
		d = d.Round(time.Millisecond)
	}
	return strings.ReplaceAll(d.String(), "µ", "u")
}

func short(v float64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

func rateText(v float64) string { return fmt.Sprintf("%.5g", v) }

// Outcomes is what became of a run's requests, in words.
func Outcomes(n results.Run) string { return outcomes(n) }

// Sights are the smallest errors that the run would have caught, a sentence for
// each limit.
func (r *Report) Sights() (sights []string) {
	for _, res := range r.Resolutions {
		sights = append(sights, sight(r, res))
	}
	return sights
}
