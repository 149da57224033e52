package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// drift is far more than a clock that is corrected does, so that it is seen soon.
func drift() Disturbance {
	const ppm = 100_000
	return Disturbance{
		Name: "drift", Says: "the wall clock runs a tenth too fast, then a tenth too slow", OfClock: true,
		actions: func(d *design) ([]scenarios.Action, time.Duration) {
			each := min(max(30*d.token, 4*time.Second), 30*time.Second)
			return []scenarios.Action{
				{Act: scenarios.ClockSlew, PPM: ppm, For: each},
				{At: each + time.Second, Act: scenarios.ClockSlew, PPM: -ppm, For: each},
			}, d.watch()
		},
	}
}
