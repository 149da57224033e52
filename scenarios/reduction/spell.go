package reduction

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// mostSpelt is how many requests are written one by one at most.
const mostSpelt = 2000

// spellOut writes paces as arrivals, which can be left out one by one: of a pace all
// stay up to the last that matters.
func (r *search) spellOut() {
	if len(r.keys.Given) > 0 {
		return
	}
	for i := range r.best.Phases {
		if n := r.best.Phases[i].Count; n < 2 || n > mostSpelt || r.best.Phases[i].Pace.Count == 0 {
			continue
		}
		c := r.spelt(i)
		if c == nil {
			continue
		}
		r.tryIf(c, func(z, w Size) bool { return z.Requests <= w.Requests })
	}
}

// spelt is the best scenario with the pace of its i-th phase as arrivals; nil: that
// would be too many.
func (r *search) spelt(i int) *scenarios.Scenario {
	plan, err := r.best.Plan(r.keys)
	if err != nil {
		return nil
	}
	var list []scenarios.Arrival
	first := int64(-1)
	for s := range plan.Shots.All() {
		if int(s.Phase) != i {
			continue
		}
		if first < 0 {
			first = s.At
		}
		list = append(list, scenarios.Arrival{At: time.Duration(s.At - first), Key: scenarios.NameOf(plan.Keys[s.Key])})
	}
	if len(list) == 0 || len(list) > mostSpelt {
		return nil
	}
	return r.change(i, func(p *scenarios.Phase) {
		p.Pace, p.Count, p.Every, p.Arrivals = scenarios.Rate{}, 0, 0, list
		if p.Keys.Of == "" {
			p.Keys.Fresh = len(scenarios.Named(list))
		}
	})
}
