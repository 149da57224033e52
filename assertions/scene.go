package assertions

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// scene is what the assertions of one judge share.
type scene struct {
	*sweep
	fresh   bool
	several bool // limits, of which any may have refused
	lateBy  time.Duration
}

// ticks is a length in ticks, rounded down.
func (s *scene) ticks(d time.Duration) int64 { return int64(d) / s.tick }

// step is that of the limiter's clock in ticks, rounded up.
func (s *scene) step() int64 { return -floorDiv(-s.early, s.tick) }

// length is how long a tick is.
func (s *scene) length() time.Duration { return time.Duration(s.tick) }

// slot is the index of the budget that a key has under a limit.
func slot(l scenarios.Limit, key int32) int32 {
	if l.Key.Kind == scenarios.KeyNone {
		return 0
	}
	return key
}

// name is the key that a slot stands for; empty: everybody.
func (s *scene) name(l scenarios.Limit, slot int) string {
	if l.Key.Kind == scenarios.KeyNone || slot >= len(s.names) {
		return ""
	}
	return s.names[slot]
}

// clock turns ticks of the start and the end of an interval back into the
// nanoseconds they were widened from.
func (s *scene) clock(from, to int64) (fromNS, toNS int64) {
	return from*s.tick + s.early, to*s.tick - s.late
}

// answeredBy is the earliest answer, in nanoseconds, of a request whose interval
// ends at a tick or later: ends are put off by late and rounded up, and the step of
// the limiter's clock, which is taken from starts, is no part of them.
func (s *scene) answeredBy(to int64) int64 { return (to-1)*s.tick - s.late + 1 }
