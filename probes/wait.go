package probes

import (
	"context"
	"time"
)

// longest is how long the pacer sleeps without looking up: it must hear that
// the run was stopped.
const longest = 20 * time.Millisecond

// until waits for a moment of the run: it sleeps while there is time and spins
// through the last stretch, since no sleep ends on time. It returns false when
// ctx ended first.
func (c clock) until(ctx context.Context, at int64, s *sleeper) bool {
	for {
		left := time.Duration(at - c.now())
		if left <= 0 {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		if left > s.margin {
			s.sleep(min(left-s.margin, longest))
		}
	}
}

// sleeper sleeps and learns how late its sleeps end.
type sleeper struct {
	margin time.Duration // before a moment from which on it spins
	most   time.Duration // of margin
}

func (s *sleeper) sleep(d time.Duration) {
	start := time.Now()
	pause(d)
	late := time.Since(start) - d
	// Rise at once to twice what was just seen, fall slowly; a pause of the
	// whole machine teaches nothing, hence the cap.
	s.margin = min(max(2*late, s.margin*31/32, 20*time.Microsecond), s.most)
}
