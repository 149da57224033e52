// Package reduction makes a scenario smaller while it still shows what it showed:
// delta debugging over phases, keys, numbers, single requests and silences. It
// stands beside scenarios, is pure, and asks its caller of every candidate whether
// it still does.
package reduction

import (
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Shows fires a candidate and says whether it still shows what is looked for. It is
// asked of no candidate twice. more is false when nothing more may be fired.
type Shows func(s *scenarios.Scenario) (shows, more bool)

// Size is how large a scenario is: its requests count first, then how much is done to the
// server, then how long it takes.
type Size struct {
	Requests int
	Actions  int // each repetition is one
	Length   time.Duration
}

// SizeOf is the most that a scenario can come to; ok is false where it cannot be
// planned.
func SizeOf(s *scenarios.Scenario, keys scenarios.Supply) (z Size, ok bool) {
	if s.Check() != nil {
		return z, false
	}
	p, err := s.Plan(keys)
	if err != nil {
		return z, false
	}
	return Size{p.Most(), len(p.Actions), p.Length}, true
}

// below reports whether z is worth firing beside w: fewer requests, or as many with less
// done, or that in clearly less time.
func (z Size) below(w Size) bool {
	if z.Requests != w.Requests {
		return z.Requests < w.Requests
	}
	if z.Actions != w.Actions {
		return z.Actions < w.Actions
	}
	return z.Length < w.Length-w.Length/50
}

// search is one reduction under way.
type search struct {
	keys  scenarios.Supply
	shows Shows
	tried map[string]bool
	best  *scenarios.Scenario
	size  Size
	spent bool // nothing more may be fired
}

// Reduce gives a scenario that shows what s shows, and from which no part can be
// taken away, or the best there is when nothing more may be fired. That s shows it
// is taken for granted. It may
// be as large as s.
func Reduce(s *scenarios.Scenario, keys scenarios.Supply, shows Shows) *scenarios.Scenario {
	s = clone(Timely(s, keys))
	for i := range s.Phases {
		slices.SortStableFunc(s.Phases[i].Arrivals, byMoment)
	}
	r := &search{keys: keys, shows: shows, tried: map[string]bool{}, best: s}
	size, ok := SizeOf(s, keys)
	if !ok {
		return s
	}
	r.size = size
	r.tried[string(s.YAML())] = true
	for before := (*scenarios.Scenario)(nil); before != r.best && !r.spent; {
		before = r.best
		r.dropPhases()
		r.dropActions()
		r.fewerKeys()
		r.spellOut()
		r.dropArrivals()
		r.smallerNumbers()
		r.lessTime()
		r.sooner()
	}
	r.plainer()
	return r.best
}

// First is the first of the candidates that shows it; nil: none does.
func First(candidates []*scenarios.Scenario, keys scenarios.Supply, shows Shows) *scenarios.Scenario {
	tried := map[string]bool{}
	for _, c := range candidates {
		text := string(c.YAML())
		if _, ok := SizeOf(c, keys); !ok || tried[text] {
			continue
		}
		tried[text] = true
		yes, more := shows(c)
		if yes {
			return c
		}
		if !more {
			return nil
		}
	}
	return nil
}

// try takes a candidate as the best one if it is smaller and shows it.
func (r *search) try(c *scenarios.Scenario) bool { return r.tryIf(c, Size.below) }

func (r *search) tryIf(c *scenarios.Scenario, better func(z, w Size) bool) bool {
	if r.spent {
		return false
	}
	c = Timely(c, r.keys)
	size, ok := SizeOf(c, r.keys)
	if !ok || !better(size, r.size) {
		return false
	}
	text := string(c.YAML())
	if r.tried[text] {
		return false
	}
	r.tried[text] = true
	yes, more := r.shows(c)
	r.spent = !more
	if yes {
		r.best, r.size = c, size
	}
	return yes
}

// clone is a scenario whose phases can be changed without changing those of s.
func clone(s *scenarios.Scenario) *scenarios.Scenario {
	c := *s
	c.Phases, c.Actions = slices.Clone(s.Phases), slices.Clone(s.Actions)
	for i := range c.Phases {
		c.Phases[i].Arrivals = slices.Clone(c.Phases[i].Arrivals)
	}
	return &c
}

// change is the best scenario with the i-th phase changed.
func (r *search) change(i int, f func(*scenarios.Phase)) *scenarios.Scenario {
	c := clone(r.best)
	f(&c.Phases[i])
	return c
}

// least finds the smallest number, from low on, that still shows it, where it is
// taken that what a number shows a larger one shows as well. Guesses are tried
// first, in their order. now is what the number is.
func (r *search) least(low, now int, with func(n int) *scenarios.Scenario, guesses ...int) {
	for _, n := range guesses {
		if n < low || n >= now {
			continue
		}
		if r.try(with(n)) {
			now = n
		} else {
			low = n + 1
		}
	}
	for low < now && !r.spent {
		if n := low + (now-low)/2; r.try(with(n)) {
			now = n
		} else {
			low = n + 1
		}
	}
}

// chunks takes away parts of so many things, large ones first, as delta debugging
// does. without gives the candidate that lacks those from i to j; count is asked
// again after each success.
func (r *search) chunks(count func() int, without func(i, j int) *scenarios.Scenario) {
	for size := (count() + 1) / 2; size >= 1 && !r.spent; size /= 2 {
		for i := 0; i < count() && !r.spent; {
			if !r.try(without(i, min(i+size, count()))) {
				i += size
			}
		}
	}
}
