package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func storeOutage() Disturbance {
	return Disturbance{
		Name: "store-outage", Says: "the way to the store is cut for two seconds",
		actions: func(d *design) ([]scenarios.Action, time.Duration) {
			return []scenarios.Action{{Act: scenarios.StoreCut, For: 2 * time.Second}}, d.watch() + scenarios.DefaultRecovers
		},
	}
}
