package page

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
)

// view is what the template sees.
type view struct {
	Report   *report.Report
	Glossary []Term
	Style    template.CSS
	Script   template.JS
	Data     template.JS
	Policy   string // what the page may load and run: nothing but itself
}

// Headline is the verdict in one sentence.
func (v view) Headline() string { return v.Report.Headline }

// Where says which key, and when, the first breach is about.
func (v view) Where() string {
	for _, f := range v.Report.Findings {
		if f.Status == results.Broken && f.Level == results.Must && (f.Key != "" || f.ToNS > 0) {
			return place(f)
		}
	}
	return ""
}

// Whose is the client that this is about.
func (v view) Whose() string {
	for _, f := range v.Report.Findings {
		if f.Status == results.Broken && f.Level == results.Must && (f.Key != "" || f.ToNS > 0) {
			return v.Report.Client(f.Key)
		}
	}
	return ""
}

func place(f results.Finding) string {
	var parts []string
	if f.Key != "" {
		parts = append(parts, "on key "+f.Key)
	}
	if f.ToNS > 0 {
		parts = append(parts, fmt.Sprintf("from %s to %s", seconds(f.FromNS), seconds(f.ToNS)))
	}
	if n := len(f.Seqs); n > 0 {
		parts = append(parts, fmt.Sprintf("%s shown below", counted(n, "request")))
	}
	return strings.Join(parts, ", ")
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// entry is a finding with its evidence.
type entry struct {
	results.Finding
	Index int
	Class string // broken, advice, kept, open, or unasked
	Word  string // the same for people
	Place string
	Whose string // the client, and what was fired on its key
	Named string // the limit, where there are several
	Hits  []results.Hit
}

// Entries are the findings: what is broken first, then what stayed open, then the rest.
func (v view) Entries() (all []entry) {
	for _, class := range []string{"broken", "open", "advice", "kept", "unasked"} {
		for i, f := range v.Report.Findings {
			c, word := classOf(f, v.Report.Strict)
			if c != class {
				continue
			}
			e := entry{Finding: f, Index: i, Class: c, Word: word}
			if len(v.Report.Promise) > 1 {
				e.Named = f.Limit
			}
			if f.Status == results.Broken {
				e.Place, e.Whose = place(f), v.Report.Client(f.Key)
			}
			if i < len(v.Report.Evidence) {
				e.Hits = v.Report.Evidence[i]
			}
			all = append(all, e)
		}
	}
	return all
}

func classOf(f results.Finding, strict bool) (class, word string) {
	switch {
	case f.Status == results.Broken && (f.Level == results.Must || f.Level == results.Should && strict):
		return "broken", "broken"
	case f.Status == results.Broken:
		return "advice", "advice"
	case f.Status == results.Kept:
		return "kept", "kept"
	case f.Level == results.Info:
		return "unasked", "not asked"
	}
	return "open", "inconclusive"
}

// Steps is what the reader can do next.
func (v view) Steps() (steps []string) {
	r := v.Report
	switch r.Status {
	case results.Broken:
		if len(r.Causes) > 0 {
			steps = append(steps, "Likely cause: "+r.Causes[0].Text)
			steps = append(steps, r.Causes[0].Reasons...)
		} else {
			steps = append(steps, "No single cause was found. The requests that prove the breach are marked in the timeline and listed below.")
		}
	case results.Inconclusive:
		for _, f := range r.Findings {
			if f.Status == results.Inconclusive && f.Level != results.Info {
				steps = append(steps, f.Text)
			}
		}
		steps = append(steps, "Nothing was proven, neither for nor against the limiter: see the notes for what would decide it.")
	default:
		steps = append(steps, "Nothing needs to be done. What this run would have caught:")
		steps = append(steps, r.Sights()...)
	}
	return steps
}

func functions() template.FuncMap {
	return template.FuncMap{"seconds": seconds, "answered": answered, "upper": strings.ToUpper, "outcomes": report.Outcomes, "wall": wall}
}

func wall(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func answered(h results.Hit) string {
	if !h.Answered() {
		return "never"
	}
	return seconds(h.First)
}

// seconds is a moment or length in seconds, to the microsecond.
func seconds(ns int64) string {
	s := fmt.Sprintf("%d.%06d", ns/1e9, ns%1e9/1000)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".") + " s"
}

// words are those that a reader meets on the page, beside the assertions.
func words() []Term {
	return []Term{
		{"admitted, limited", "what became of a request: it was let through, or refused by the limiter (such as 429)"},
		{"other, unknown", "answered by something that is not the limiter; or not answered, so that it may have been admitted"},
		{"burst b, rate r", "what the limit promises: b requests at once, and r for each second after that"},
		{"window", "a stretch of time in which admissions are counted: the one shown holds more, or fewer, than the promise explains"},
		{"key", "what the limiter tells clients apart by; each key has a budget of its own. Keys that hammer invents are called after the phase that invents them: volley/2 is the second client of the phase volley"},
		{"phase", "a part of what is fired, such as a volley or a steady pace; hammer list says what each is for, hammer plan which there are"},
		{"interval", "a request was decided at some moment between when it was sent and when its answer came: nothing is called broken that some choice of moments explains"},
		{"planned, sent", "when a request was due, and when it left; the difference is hammer's own lateness"},
	}
}
