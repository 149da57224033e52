package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func restart() Disturbance {
	return Disturbance{
		Name: "restart", Says: "the server is ended and started again: what was spent is spent",
		actions: func(d *design) ([]scenarios.Action, time.Duration) {
			return []scenarios.Action{{Act: scenarios.ProcessRestart}}, d.watch() + time.Second
		},
	}
}

func rollingRestart() Disturbance {
	return Disturbance{
		Name: "rolling-restart", Says: "two nodes are ended and started again, one after the other",
		actions: func(d *design) ([]scenarios.Action, time.Duration) {
			return []scenarios.Action{
				{Act: scenarios.ProcessRestart, On: "1"},
				{At: 2 * time.Second, Act: scenarios.ProcessRestart, On: "2"},
			}, d.watch() + time.Second
		},
	}
}
