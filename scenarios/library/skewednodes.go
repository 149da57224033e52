package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func skewedNodes() Disturbance {
	return Disturbance{
		Name: "skewed-nodes", Says: "the wall clock of the second node or process goes a second behind the others'", OfClock: true,
		actions: func(d *design) ([]scenarios.Action, time.Duration) {
			return []scenarios.Action{{Act: scenarios.ClockStep, By: -time.Second, On: "2"}}, d.watch() + 3*time.Second
		},
	}
}
