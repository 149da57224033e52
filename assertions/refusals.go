package assertions

import (
	"fmt"

	"github.com/ratehammer/ratehammer/results"
)

// refusals asserts something of every refusal by itself.
type refusals struct {
	id    string
	level results.Level
	all   bool                                   // it is asked of every answer, and not only of refusals
	fault func(*flight) (bad string, asked bool) // bad: what is wrong; asked: the question applies
	good  string                                 // what is said when none is bad
	none  string                                 // what is said when it was never asked

	asked, bad int64
	first      *results.Hit
	what       string // is wrong with the first
}

func (r *refusals) check() string { return r.id }
func (r *refusals) trim(int64)    {}

func (r *refusals) hear(events []event) {
	for _, e := range events {
		if e.kind != ends || !r.all && e.f.outcome != results.Limited || r.all && r.asked >= sampleSize {
			continue
		}
		bad, asked := r.fault(e.f)
		if !asked {
			continue
		}
		r.asked++
		if bad == "" {
			continue
		}
		if r.bad++; r.first == nil {
			h := *e.f.hit
			r.first, r.what = &h, bad
		}
	}
}

func (r *refusals) tell() []results.Finding {
	f := results.Finding{Check: r.id, Level: r.level}
	switch {
	case r.asked == 0:
		f.Level, f.Text = results.Info, r.none
	case r.bad == 0:
		f.Status, f.Text = results.Kept, fmt.Sprintf("%s (%s)", r.good, plural(r.asked, r.thing()))
	default:
		f.Status, f.Key, f.Seqs = results.Broken, r.first.Key, []int64{r.first.Seq}
		f.FromNS, f.ToNS = r.first.Sent, r.first.First
		f.Got, f.Unit = float64(r.bad), r.thing()+"s"
		f.Text = fmt.Sprintf("%s on %d of %s, first on request %d", r.what, r.bad, plural(r.asked, r.thing()), r.first.Seq)
	}
	return []results.Finding{f}
}

// thing is what it is asked of.
func (r *refusals) thing() string {
	if r.all {
		return "answer"
	}
	return "refusal"
}
