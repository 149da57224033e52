package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func awayAndBack() Disturbance {
	const away = 600 * time.Millisecond
	return Disturbance{
		Name: "away-and-back", Says: "the wall clock steps back and is right again 0.6 s later, then forward likewise", OfClock: true,
		actions: func(d *design) ([]scenarios.Action, time.Duration) {
			by := min(max(d.fill, time.Second), time.Hour).Round(time.Millisecond)
			return []scenarios.Action{
				{Act: scenarios.ClockStep, By: -by, For: away},
				{At: away + d.watch(), Act: scenarios.ClockStep, By: by, For: away},
			}, d.watch()
		},
	}
}
