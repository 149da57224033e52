package assertions

import (
	"cmp"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// A queue that is too fast gives itself away by what it releases, with or without
// refusals: those are what a faster promise is refuted by otherwise. So of a queue
// the record is asked what a faster one would have made of it, which had the same
// requests come to it.

// faster is the index of the smallest error in the rate by which a queue can be too
// fast and would have released more than the promise allows, or errorSteps.
func (r *resolution) faster() int {
	l := r.limits[r.i]
	way := r.sample.quickest()
	return leastRefuted(0, errorSteps, func(i int) bool {
		rate := l.Rate.Times(1_000_000+errorStep(i), 1_000_000)
		made := r.sample.queuedAt(l, rate.Time(1), way)
		over, _ := made.bounded(made.moments(), r.limits, r.i)
		return over
	})
}

// quickest is the shortest time, in ticks, in which an admission was answered: no
// queue held that one back, so that others can be answered as soon.
func (s *sample) quickest() int64 {
	way := int64(-1)
	for i := range s.hits {
		if h := &s.hits[i]; h.outcome == results.Admitted && (way < 0 || h.to-h.from < way) {
			way = h.to - h.from
		}
	}
	return max(way, 0)
}

// queuedAt is what the sample's requests come to in a queue that releases one every
// gap, in the order in which they left. What may have been let in takes its turn.
func (s *sample) queuedAt(l scenarios.Limit, gap time.Duration, way int64) *sample {
	made := s.only(func(h *sampled) bool { return h.spends() })
	slices.SortStableFunc(made.hits, func(a, b sampled) int { return cmp.Compare(a.from, b.from) })
	space := s.ticks(gap) + 1
	next := map[int32]int64{} // by budget: when its next release is due
	for i := range made.hits {
		h := &made.hits[i]
		released := h.from
		if due, used := next[slot(l, h.key)]; used {
			released = max(released, due)
		}
		next[slot(l, h.key)] = released + space
		h.to = released + way
	}
	return made
}
