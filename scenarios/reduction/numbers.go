package reduction

import (
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// smallerNumbers makes volleys, paces, attacks and clients smaller. One more than a
// limit admits at once is the first guess: no smaller number shows that it admits
// too many.
func (r *search) smallerNumbers() {
	var sizes []int
	for _, l := range r.best.Limits {
		sizes = append(sizes, int(l.Size())+1, int(l.Size()))
	}
	slices.Sort(sizes)
	slices.Reverse(sizes)
	for i := range r.best.Phases {
		p := r.best.Phases[i]
		number := func(now int, set func(*scenarios.Phase, int), guesses ...int) {
			r.least(1, now, func(n int) *scenarios.Scenario {
				return r.change(i, func(p *scenarios.Phase) { set(p, n) })
			}, guesses...)
		}
		if p.Attack != scenarios.TacticNone {
			rounds := p.Rounds
			if rounds == 0 {
				rounds = scenarios.DefaultRounds
			}
			number(rounds, func(p *scenarios.Phase, n int) { p.Rounds = n }, 1)
		}
		number(p.Volley, func(p *scenarios.Phase, n int) { p.Volley = n }, sizes...)
		number(p.Count, func(p *scenarios.Phase, n int) { p.Count = n }, 1)
		number(p.Saturate, func(p *scenarios.Phase, n int) { p.Saturate = n }, 1)
		number(p.Tries, func(p *scenarios.Phase, n int) { p.Tries = n }, 1)
		for k, a := range p.Arrivals {
			number(a.Count, func(p *scenarios.Phase, n int) { p.Arrivals[k].Count = single(n) }, sizes...)
		}
	}
}

// single is a count as it is written: 0 for one.
func single(n int) int {
	if n == 1 {
		return 0
	}
	return n
}

// fine is how much of a silence is not worth asking about.
const fine = 20 * time.Millisecond

// toReady is how long a run may be silent at its beginning: it takes some time to open
// connections.
const toReady = 250 * time.Millisecond

// lessTime makes silences shorter: before phases, between keys, between arrivals.
func (r *search) lessTime() {
	for i := range r.best.Phases {
		p := r.best.Phases[i]
		if i > 0 || p.Rest > toReady {
			r.shorter(p.Rest, func(d time.Duration) *scenarios.Scenario {
				return r.change(i, func(p *scenarios.Phase) { p.Rest = d })
			})
		}
		r.shorter(p.Every, func(d time.Duration) *scenarios.Scenario {
			return r.change(i, func(p *scenarios.Phase) { p.Every = d })
		})
		if p.At != nil && *p.At > toReady {
			r.shorter(*p.At, func(d time.Duration) *scenarios.Scenario {
				return r.change(i, func(p *scenarios.Phase) { p.At = &d })
			})
		}
		r.closer(i)
	}
}

// shorter looks for the least of a time, to within a tenth.
func (r *search) shorter(now time.Duration, with func(time.Duration) *scenarios.Scenario) {
	low := time.Duration(0)
	if now <= 0 {
		return
	}
	if r.try(with(0)) {
		return
	}
	for now-low > max(fine, now/10) && !r.spent {
		middle := (low + (now-low)/2).Round(time.Millisecond)
		if r.try(with(middle)) {
			now = middle
		} else {
			low = middle
		}
	}
}

// closer moves arrivals together, each silence between them by itself.
func (r *search) closer(i int) {
	for k := 0; k < len(r.best.Phases[i].Arrivals) && k < mostSilences; k++ {
		all := slices.Clone(r.best.Phases[i].Arrivals)
		before := time.Duration(0)
		if k > 0 {
			before = all[k-1].At
		}
		silence := all[k].At - before
		if silence < fine {
			continue
		}
		r.shorter(silence, func(d time.Duration) *scenarios.Scenario {
			return r.change(i, func(p *scenarios.Phase) {
				copy(p.Arrivals, all)
				for n := k; n < len(p.Arrivals); n++ {
					p.Arrivals[n].At -= silence - d
				}
			})
		})
	}
}

// mostSilences bounds how many are asked about: of a long list the rest stays.
const mostSilences = 50

func byMoment(a, b scenarios.Arrival) int {
	switch {
	case a.At < b.At:
		return -1
	case a.At > b.At:
		return 1
	}
	return 0
}
