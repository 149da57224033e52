package assertions

import (
	"cmp"
	"slices"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// sampleSize is how many requests are kept to try other promises on. It bounds
// memory and work; the first seconds under pressure tell what there is to tell.
const sampleSize = 1 << 15

// sample keeps the first requests of a run. The beginning of a history is a
// history, so whatever it refutes is refuted.
type sample struct {
	*scene
	hits  []sampled
	full  bool
	until int64 // ticks: requests that may have been decided from here on are not all in it

	// Kept, since it is judged many times over; nil: not asked for since the last hear.
	order []moment
	front *sample
	keys  []*sample
}

// sampled is a request and its key.
type sampled struct {
	brief
	key  int32
	asks results.RetryAfter // what a refusal asks for; for the search for causes
}

func (s *sample) hear(events []event) {
	if s.full {
		return
	}
	s.order, s.front, s.keys = nil, nil, nil
	for _, e := range events {
		switch {
		case e.kind == ends || s.full:
		case e.f == nil || len(s.hits) == sampleSize:
			s.full, s.until = true, e.at
		default:
			s.hits = append(s.hits, sampled{e.f.brief, e.f.key, e.f.asks})
		}
	}
}

// moment is a start or end in a sample.
type moment struct {
	at   int64
	rank int8 // the order at equal times, as in sweep
	i    int32
}

// moments is the sample in the order of time, without what it does not hold in
// full.
func (s *sample) moments() []moment {
	if s.order == nil {
		s.order = s.sort()
	}
	return s.order
}

func (s *sample) sort() []moment {
	m := make([]moment, 0, 2*len(s.hits))
	for i := range s.hits {
		b := &s.hits[i].brief
		begin, end := int8(0), int8(3)
		if !b.spends() {
			begin, end = 1, 2
		}
		beyond := s.full && b.to >= s.until
		if beyond && !b.spends() {
			continue
		}
		m = append(m, moment{b.from, begin, int32(i)})
		if !beyond {
			m = append(m, moment{b.to, end, int32(i)})
		}
	}
	slices.SortFunc(m, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank))
	})
	return m
}

// try judges the sample against other limits. It reports whether it refutes
// the one at index i.
func (s *sample) try(m []moment, limits []scenarios.Limit, i int) bool {
	c := newCourt(s.scene, limits)
	return s.play(c, m, i) || s.unexplained(c, i)
}

// play shows the sample to a court, and reports whether it refutes the limit at
// index i.
func (s *sample) play(c *court, m []moment, i int) bool {
	for _, x := range m {
		h := &s.hits[x.i]
		switch x.rank {
		case 0, 1:
			c.start(h.key, &h.brief)
		case 2:
			if r, _ := c.refused(h.key, &h.brief); r.wrong {
				return true
			}
		default:
			c.spent(h.key, &h.brief)
		}
	}
	return c.refuted(i)
}

// bounded judges the sample against other limits, each side by itself: whether more
// was admitted than the one at index i allows, and whether something was refused that
// all of them allow.
func (s *sample) bounded(m []moment, limits []scenarios.Limit, i int) (over, wrong bool) {
	c := newCourt(s.scene, limits)
	wrong = s.show(c, m)
	return c.tooMuch(i), wrong
}

// show lets a court hear all of the sample, and tells whether it called a refusal
// wrong.
func (s *sample) show(c *court, m []moment) (wrong bool) {
	for _, x := range m {
		h := &s.hits[x.i]
		switch x.rank {
		case 0, 1:
			c.start(h.key, &h.brief)
		case 2:
			r, _ := c.refused(h.key, &h.brief)
			wrong = wrong || r.wrong
		default:
			c.spent(h.key, &h.brief)
		}
	}
	return wrong
}

// unexplained reports whether each theory of a limit is refuted, where those
// that depend on a phase are refuted if no phase explains the sample.
func (s *sample) unexplained(c *court, i int) bool {
	some := false
	for _, t := range c.all[i] {
		switch {
		case t.phased != nil:
			some = true
			for _, p := range t.phased {
				if _, _, _, ok := s.explains(c, i, t, p); ok {
					return false
				}
			}
		case !c.fails(t):
			return false
		}
	}
	return some
}
