package reduction

import (
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Timely is a scenario without what would be done to the server behind the last request,
// which nobody would see.
func Timely(s *scenarios.Scenario, keys scenarios.Supply) *scenarios.Scenario {
	if len(s.Actions) == 0 {
		return s
	}
	quiet := *s
	quiet.Actions = nil
	p, err := quiet.Plan(keys)
	if err != nil {
		return s
	}
	c := *s
	c.Actions = slices.DeleteFunc(slices.Clone(s.Actions), func(a scenarios.Action) bool { return a.At > p.Length })
	return &c
}

// dropActions leaves out what is done to the server, and repetitions of it.
func (r *search) dropActions() {
	r.chunks(func() int { return len(r.best.Actions) }, func(i, j int) *scenarios.Scenario {
		c := clone(r.best)
		c.Actions = slices.Delete(c.Actions, i, j)
		return c
	})
	for i := 0; i < len(r.best.Actions) && !r.spent; i++ {
		r.least(1, r.best.Actions[i].Times, func(n int) *scenarios.Scenario {
			c := clone(r.best)
			c.Actions[i].Times = n
			if n == 1 && c.Actions[i].Act != scenarios.ClockStrobe {
				c.Actions[i].Times, c.Actions[i].Every = 0, 0
			}
			return c
		}, 1)
	}
}

// sooner lets all that is done and fired begin earlier, together: what lies in front of
// the first of it is silence.
func (r *search) sooner() {
	if len(r.best.Actions) == 0 {
		return
	}
	silence := r.best.Actions[0].At
	for _, a := range r.best.Actions {
		silence = min(silence, a.At)
	}
	for i := range r.best.Phases {
		p := &r.best.Phases[i]
		if p.At == nil {
			return // it follows others, and nothing can be moved by itself
		}
		first := *p.At
		if len(p.Arrivals) > 0 {
			first += p.Arrivals[0].At
		}
		silence = min(silence, first)
	}
	whole := r.best
	r.shorter(max(0, silence-toReady), func(d time.Duration) *scenarios.Scenario {
		c := clone(whole)
		by := max(0, silence-toReady) - d
		for i := range c.Actions {
			c.Actions[i].At -= by
		}
		for i := range c.Phases {
			at := max(0, *c.Phases[i].At-by)
			for k := range c.Phases[i].Arrivals { // what of it does not fit in front of the phase's arrivals
				c.Phases[i].Arrivals[k].At -= by - (*c.Phases[i].At - at)
			}
			c.Phases[i].At = &at
		}
		return c
	})
}
