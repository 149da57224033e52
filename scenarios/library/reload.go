package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func reload() Disturbance {
	return Disturbance{
		Name: "reload", Says: "the server reads its configuration again, which has not changed, three times",
		actions: func(d *design) ([]scenarios.Action, time.Duration) {
			return []scenarios.Action{{Act: scenarios.ProcessReload, Every: d.watch(), Times: 3}}, d.watch()
		},
	}
}
