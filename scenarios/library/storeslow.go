package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func storeSlow() Disturbance {
	return Disturbance{
		Name: "store-slow", Says: "the way to the store takes 100 ms longer for two seconds",
		actions: func(d *design) ([]scenarios.Action, time.Duration) {
			return []scenarios.Action{{Act: scenarios.StoreDelay, By: 100 * time.Millisecond, For: 2 * time.Second}}, d.watch() + scenarios.DefaultRecovers
		},
	}
}
