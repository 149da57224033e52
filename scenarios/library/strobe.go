package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// strobe makes what clamps a negative time at 0 gain a period's tokens at each jump.
func strobe() Disturbance {
	return Disturbance{
		Name: "strobe", Says: "the wall clock jumps back and forth, faster than tokens come", OfClock: true,
		actions: func(d *design) ([]scenarios.Action, time.Duration) {
			every := min(max(d.token*7/8, 50*time.Millisecond), 250*time.Millisecond)
			by := -min(max(d.fill/2, 500*time.Millisecond), time.Minute).Round(time.Millisecond)
			return []scenarios.Action{{Act: scenarios.ClockStrobe, By: by, Every: every, Times: 12}}, d.watch()
		},
	}
}
