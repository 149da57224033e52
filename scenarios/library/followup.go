package library

import (
	"fmt"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Means are what may be spent on follow-ups.
type Means struct {
	Requests int
	Length   time.Duration
}

// FollowUp is what is fired after a breach, and what could not be.
type FollowUp struct {
	Phases []scenarios.Phase // their moments are since its own start
	Price  Price             // at most
	Says   []string          // each experiment in a few words
	Left   []Omission
}

// experiment tells apart what a breach may come from. It is a trap that is set
// when the limiter is known to be wrong, and only then.
type experiment struct {
	Trap
	decides []scenarios.Doubt
}

// After plans the follow-ups of a breach: the experiments that the suspicion
// calls for and no others, one after the other, so that none disturbs the next,
// within the means.
func After(l scenarios.Limit, c Circumstances, s scenarios.Suspicion, m Means) (f FollowUp) {
	d := newDesign(l, c)
	at := 20 * time.Millisecond
	if c.Keys > 0 {
		at = d.fill
	}
	for _, e := range experiments(l, c, s) {
		if !e.Asks(l) || !slices.ContainsFunc(s.Doubts, func(q scenarios.Doubt) bool { return slices.Contains(e.decides, q) }) {
			continue
		}
		d.most = m.Length - at
		t, o := d.affords(e, s.Doubts, at, f.Price.Requests, m)
		if o != nil {
			f.Left = append(f.Left, *o)
			continue
		}
		f.Price.Requests += d.price(t).Requests
		f.Says = append(f.Says, e.Name)
		if c.Keys == 0 {
			f.Phases = append(f.Phases, beside(t, at)...)
			at = longer(at, t.length+50*time.Millisecond)
		} else {
			if len(f.Phases) == 0 {
				t.phases[0].At = new(time.Duration)
			}
			f.Phases = append(f.Phases, inTurn(t)...)
			at = longer(at, t.length+d.fill+d.fill/20)
		}
		f.Price.Length = at
	}
	return f
}

// affords fits an experiment, and says why it is not fired where it is not.
func (d *design) affords(e experiment, open []scenarios.Doubt, at time.Duration, spent int, m Means) (t track, o *Omission) {
	o = &Omission{Track: e.Name, Loses: asked(e, open)}
	if e.unfit != nil {
		if o.Why = e.unfit(d); o.Why != "" {
			return t, o
		}
	}
	if d.c.Keys > 0 && e.Keys > d.c.Keys {
		o.Why = fmt.Sprintf("keys: it takes %d, %d given", e.Keys, d.c.Keys)
		return t, o
	}
	t = d.fit(e.Trap)
	switch n := d.price(t).Requests; {
	case longer(at, t.length) > m.Length:
		o.Why, o.Needs = "time", longer(at, t.length)
	case spent+n > m.Requests:
		o.Why = fmt.Sprintf("requests: it takes %d, and %d are left", n, m.Requests-spent)
	default:
		return t, nil
	}
	return t, o
}

// asked are the open doubts that an experiment decides, in words.
func asked(e experiment, open []scenarios.Doubt) string {
	words := ""
	for _, q := range e.decides {
		if slices.Contains(open, q) {
			if words != "" {
				words += ", and "
			}
			words += string(q)
		}
	}
	return words
}

// Most is what the follow-ups of any breach come to at most, within the means.
func Most(l scenarios.Limit, c Circumstances, m Means) Price {
	return After(l, c, scenarios.Suspicion{Doubts: scenarios.Doubts(), Like: []scenarios.Limit{l}}, m).Price
}

// experiments are all of them, fitted to a suspicion, the cheapest first.
func experiments(l scenarios.Limit, c Circumstances, s scenarios.Suspicion) []experiment {
	all := []experiment{oneByOne(), apart(), atOnce(), again(s.Again), crowd(), refused(l, c), watch(s.Span), staircase(s.Like)}
	return slices.Concat(all, twinned(l, c), parts(s.Like))
}
