package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func volley() Trap {
	return Trap{
		Name: "volley", Says: "many requests at once on full keys: exactly as many are admitted as may come at once",
		Finds: []Kind{WrongSize, Race}, Keys: 1, Asks: always, Regular: true,
		phases: func(d *design) track {
			n := d.share(3)
			return track{
				length: time.Duration(n)*150*time.Millisecond + d.c.RTT,
				phases: []scenarios.Phase{{Name: "volley", Volley: d.over(), Held: true, Every: 150 * time.Millisecond, Keys: scenarios.Keys{Fresh: n}}},
			}
		},
	}
}
