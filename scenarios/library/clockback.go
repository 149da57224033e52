package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func clockBack() Disturbance {
	return Disturbance{
		Name: "clock-back", Says: "the wall clock steps back, by half of what a token takes first, by an hour last", OfClock: true,
		actions: func(d *design) ([]scenarios.Action, time.Duration) { return d.stairs(-1) },
	}
}
