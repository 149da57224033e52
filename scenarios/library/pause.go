package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func pause() Disturbance {
	return Disturbance{
		Name: "pause", Says: "the server's process is stopped for a second, and goes on",
		actions: func(d *design) ([]scenarios.Action, time.Duration) {
			return []scenarios.Action{{Act: scenarios.ProcessPause, For: time.Second}}, d.watch()
		},
	}
}
