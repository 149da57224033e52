package reduction

import (
	"fmt"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// plainer writes a short list of arrivals on one key as volleys, as a person would,
// with round moments.
func (r *search) plainer() {
	if c := plain(r.best); c != nil {
		r.tryIf(c, func(z, w Size) bool { return z.Requests <= w.Requests })
	}
	c := clone(r.best)
	for i := range c.Phases {
		p := &c.Phases[i]
		for k := range p.Arrivals {
			p.Arrivals[k].At = p.Arrivals[k].At.Round(time.Millisecond)
		}
		if p.At != nil {
			at := p.At.Round(time.Millisecond)
			p.At = &at
		}
	}
	r.tryIf(c, func(z, w Size) bool { return z.Requests <= w.Requests })
}

// mostPlain is how many volleys a person would read.
const mostPlain = 6

// plain is a scenario of one phase of arrivals on one key, as volleys with rests;
// nil: it is not so simple.
func plain(s *scenarios.Scenario) *scenarios.Scenario {
	if len(s.Phases) != 1 {
		return nil
	}
	p := s.Phases[0]
	list := slices.Clone(p.Arrivals)
	if len(list) == 0 || len(list) > mostPlain || len(scenarios.Named(list)) != 1 || p.Keys.Of != "" {
		return nil
	}
	slices.SortStableFunc(list, byMoment)
	c := *s
	c.Phases = nil
	before := time.Duration(0)
	if p.At != nil {
		before = -*p.At
	}
	for i, a := range list {
		v := scenarios.Phase{Name: p.Name, Rest: (a.At - before).Round(time.Millisecond), Volley: max(a.Count, 1), Cost: max(a.Cost, p.Cost),
			Keys: scenarios.Keys{Fresh: 1}, Held: p.Held, Apart: p.Apart, Vary: p.Vary, Retry: p.Retry, Tries: p.Tries}
		if i > 0 {
			v.Name = fmt.Sprintf("%s %d", p.Name, i+1)
			v.Keys = scenarios.Keys{Of: p.Name}
		}
		before = a.At
		c.Phases = append(c.Phases, v)
	}
	c.Phases[0].Rest += p.Rest
	return &c
}
