package assertions

import (
	"math"

	"github.com/ratehammer/ratehammer/results"
)

// outage is a time, in ticks, in which a limiter may do something else than was
// promised, as was declared of what was done to it.
type outage struct{ from, to int64 }

// declare takes in a fault of which it was declared what it may change. What is decided
// while it lasts, and until all may be as before, is as if it had not been answered: it
// may have cost something, and proves nothing. In front of it and behind it windows
// begin anew, since what was on its way then may have been decided on either side.
func (s *sweep) declare(m results.Mark, from, to int64) {
	want, n := expected(m), len(s.free)
	lasts := n > 0 && s.free[n-1].to == endOfTime
	if restores(m) && want.Policy != "" {
		to = min(endOfTime-1, to+int64(want.Recovers)/s.tick)
	}
	switch {
	case restores(m) && lasts:
		s.free[n-1].to = to
		s.anew(to)
	case want.Policy != "" && !restores(m):
		s.free = append(s.free, outage{from, endOfTime}) // until it is taken back
		s.anew(from)
	default:
		s.free = append(s.free, outage{from, to})
		s.anew(from)
		s.anew(to)
	}
	for _, f := range s.pending {
		s.freed(f)
	}
}

// anew lets windows begin anew at a moment, with levels that are not known.
func (s *sweep) anew(at int64) {
	s.marks = append(s.marks, event{at: at, kind: tears, until: at}, event{at: at, kind: loses, until: math.MinInt64}, event{at: at, kind: regains, until: math.MinInt64})
}

// displace tells that the wall clock was moved which windows lie on: they lie elsewhere
// from then on, by nobody knows how much. What is not surely decided before the first
// move counts in no window, and no window reaches across it.
func (s *sweep) displace(from int64) {
	if from >= s.moved {
		return
	}
	s.moved = from
	s.marks = append(s.marks, event{at: from, kind: tears, until: from}, event{at: from, kind: loses, until: math.MinInt64})
	for _, f := range s.pending {
		s.freed(f)
	}
	for _, f := range s.open { // heard of already: a refusal stays one, and is behind what was lost
		if f.to >= from {
			f.torn = true
		}
		if f.to >= from && f.outcome == results.Admitted {
			f.outcome = results.Unknown
		}
	}
}

// freed takes its meaning from a request that was decided in such a time.
func (s *sweep) freed(f *flight) {
	if f.to >= s.moved {
		f.outcome = results.Unknown
	}
	for _, o := range s.free {
		if f.from <= o.to && f.to >= o.from {
			f.outcome = results.Unknown
		}
	}
}
