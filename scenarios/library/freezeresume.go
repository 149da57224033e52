package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func freezeResume() Disturbance {
	return Disturbance{
		Name: "freeze-resume", Says: "the wall clock stands still, and goes on from there", OfClock: true,
		actions: func(d *design) ([]scenarios.Action, time.Duration) {
			return []scenarios.Action{{Act: scenarios.ClockFreeze, For: min(max(d.fill, 2*time.Second), 5*time.Second)}}, d.watch()
		},
	}
}
