package metrics

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ratehammer/ratehammer/results"
)

// write is the text form of Prometheus, version 0.0.4.
func (m *Metrics) write(w io.Writer) error {
	s := m.now()
	p := &page{}
	m.mu.Lock()
	p.family("hammer_requests_total", "counter", "Requests that came to an end, by outcome.")
	for o, n := range m.requests {
		p.sample("hammer_requests_total", outcome(o), float64(n))
	}
	p.one("hammer_planned_requests", "gauge", "Requests that are planned.", float64(s.Planned))
	p.one("hammer_missed_requests_total", "counter", "Requests that were not sent in time, and never were.", float64(s.Missed))
	p.one("hammer_offered_burst_tokens", "gauge", "Smallest bucket that admits, at the promised rate, what was sent on one key.", m.burst)
	p.one("hammer_elapsed_seconds", "gauge", "Time since the run's start.", s.Seconds)
	p.family("hammer_phase", "gauge", "The phase that is being fired.")
	p.sample("hammer_phase", label("phase", s.Phase), 1)
	p.family("hammer_lateness_seconds", "histogram", "How long after its moment a request was sent.")
	p.histogram("hammer_lateness_seconds", "", &m.late)
	p.family("hammer_answer_seconds", "histogram", "Time to the answer's first byte, from when the request was sent.")
	for o := range m.answers {
		p.histogram("hammer_answer_seconds", outcome(o), &m.answers[o])
	}
	p.family("hammer_answer_from_due_seconds", "histogram", "Time to the answer's first byte, from when the request was due: late sending counts too.")
	for o := range m.due {
		p.histogram("hammer_answer_from_due_seconds", outcome(o), &m.due[o])
	}
	m.mu.Unlock()
	_, err := io.WriteString(w, p.out.String())
	return err
}

type page struct{ out strings.Builder }

func (p *page) family(name, kind, help string) {
	fmt.Fprintf(&p.out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (p *page) sample(name, labels string, v float64) {
	if labels != "" {
		labels = "{" + labels + "}"
	}
	fmt.Fprintf(&p.out, "%s%s %s\n", name, labels, strconv.FormatFloat(v, 'g', -1, 64))
}

func (p *page) one(name, kind, help string, v float64) {
	p.family(name, kind, help)
	p.sample(name, "", v)
}

func (p *page) histogram(name, labels string, h *histogram) {
	with := func(le string) string {
		return strings.TrimPrefix(labels+","+label("le", le), ",")
	}
	sum := int64(0)
	for i, edge := range edges {
		sum += h.counts[i]
		p.sample(name+"_bucket", with(strconv.FormatFloat(edge, 'g', -1, 64)), float64(sum))
	}
	p.sample(name+"_bucket", with("+Inf"), float64(h.n))
	p.sample(name+"_sum", labels, float64(h.sum)/1e9)
	p.sample(name+"_count", labels, float64(h.n))
}

func outcome(o int) string { return label("outcome", results.Outcome(o).String()) }

// label is one, with its value escaped.
func label(name, value string) string {
	return name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.ToValidUTF8(value, "\uFFFD")) + `"`
}

// edges are the upper bounds of the histograms, in seconds.
var edges = [...]float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// histogram counts lengths of time.
type histogram struct {
	counts [len(edges)]int64 // by edge: above the one before, and not above this one
	n, sum int64             // of all, also of those above the last edge; nanoseconds
}

func (h *histogram) add(ns int64) {
	ns = max(ns, 0)
	h.n++
	h.sum += ns
	for i, edge := range edges {
		if float64(ns) <= edge*1e9 {
			h.counts[i]++
			return
		}
	}
}
