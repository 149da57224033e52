package reduction

import (
	"slices"

	"github.com/ratehammer/ratehammer/scenarios"
)

// dropPhases leaves whole phases out.
func (r *search) dropPhases() {
	r.chunks(func() int { return len(r.best.Phases) }, func(i, j int) *scenarios.Scenario {
		return without(r.best, i, j)
	})
}

// without leaves out the phases from i to j. Phases on their keys get fresh ones.
func without(s *scenarios.Scenario, i, j int) *scenarios.Scenario {
	c := clone(s)
	gone := c.Phases[i:j]
	was := slices.Clone(gone)
	c.Phases = slices.Delete(c.Phases, i, j)
	lost := func(name string) *scenarios.Phase {
		n := slices.IndexFunc(was, func(p scenarios.Phase) bool { return p.Name == name })
		if n < 0 {
			return nil
		}
		return &was[n]
	}
	heirs := map[string]string{} // by phase that is gone: the first of those that were on its keys
	for n := range c.Phases {
		p := &c.Phases[n]
		if from := lost(p.Keys.Of); p.Keys.Of != "" && from != nil {
			root := from.Name
			for from.Keys.Of != "" && lost(from.Keys.Of) != nil {
				from = lost(from.Keys.Of)
				root = from.Name
			}
			switch heir := heirs[root]; {
			case heir != "":
				p.Keys.Of = heir
			case from.Keys.Of != "":
				p.Keys.Of = from.Keys.Of // which is still there
			default:
				heirs[root] = p.Name
				p.Keys = scenarios.Keys{Fresh: max(from.Keys.Fresh, 1)}
				if len(p.Arrivals) > 0 {
					p.Keys.Fresh = len(scenarios.Named(p.Arrivals))
				}
			}
		}
		if lost(p.Vary.Other) != nil && p.Vary.Other != "" {
			p.Vary.Other = ""
		}
	}
	return c
}

// fewerKeys fires each phase on as few keys as will do.
func (r *search) fewerKeys() {
	for i := range r.best.Phases {
		p := r.best.Phases[i]
		if len(p.Arrivals) > 0 {
			r.dropNames(i)
			continue
		}
		r.least(1, p.Keys.Fresh, func(n int) *scenarios.Scenario {
			return r.change(i, func(p *scenarios.Phase) {
				if p.Keys.Fresh = n; n == 1 {
					p.Every = 0
				}
			})
		}, 1)
	}
}

// dropNames leaves out all that a phase's arrivals have on single keys.
func (r *search) dropNames(i int) {
	names := func() []string { return scenarios.Named(r.best.Phases[i].Arrivals) }
	if len(names()) < 2 {
		return
	}
	r.chunks(func() int { return len(names()) }, func(from, to int) *scenarios.Scenario {
		gone := names()[from:to]
		return r.change(i, func(p *scenarios.Phase) {
			keep(p, func(a scenarios.Arrival) bool { return !slices.Contains(gone, a.Name()) })
		})
	})
}

// keep leaves only some of a phase's arrivals.
func keep(p *scenarios.Phase, of func(scenarios.Arrival) bool) {
	p.Arrivals = slices.DeleteFunc(p.Arrivals, func(a scenarios.Arrival) bool { return !of(a) })
	if p.Keys.Of == "" {
		p.Keys.Fresh = len(scenarios.Named(p.Arrivals))
	}
}

// dropArrivals leaves single requests out.
func (r *search) dropArrivals() {
	for i := range r.best.Phases {
		r.chunks(func() int { return len(r.best.Phases[i].Arrivals) }, func(from, to int) *scenarios.Scenario {
			return r.change(i, func(p *scenarios.Phase) {
				p.Arrivals = slices.Delete(p.Arrivals, from, to)
				keep(p, func(scenarios.Arrival) bool { return true })
			})
		})
	}
}
