package probes

import "time"

// clock counts nanoseconds since a run's start on the monotonic clock.
type clock struct{ start time.Time }

func (c clock) now() int64 { return int64(time.Since(c.start)) }

// Tick is the step of the monotonic clock as time.Now reads it: what an end
// stamp may be too early by. On Linux it is some tens of nanoseconds; on
// Windows the clock moves every 0.5 to 15.6 ms.
func Tick() time.Duration {
	const samples, patience = 8, 50 * time.Millisecond
	start := time.Now()
	last, step := start, time.Duration(0)
	for seen := 0; seen < samples; {
		now := time.Now()
		d := now.Sub(last)
		if d <= 0 {
			continue
		}
		last = now
		// The first step began before we looked; of the others the shortest
		// is the clock's, longer ones are pauses of ours.
		if seen++; seen > 1 && (step == 0 || d < step) {
			step = d
		}
		if now.Sub(start) > patience && seen > 1 {
			break
		}
	}
	return step
}
