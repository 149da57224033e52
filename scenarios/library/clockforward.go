package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func clockForward() Disturbance {
	return Disturbance{
		Name: "clock-forward", Says: "the wall clock steps forward, by half of what a token takes first, by an hour last", OfClock: true,
		actions: func(d *design) ([]scenarios.Action, time.Duration) { return d.stairs(1) },
	}
}
