package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func twins() Trap {
	return Trap{
		Name: "twins", Says: "one key drained while another asks for all it has: the second is not short of anything",
		Finds: []Kind{Shared}, Keys: 2, Asks: always, Regular: true,
		phases: func(d *design) track {
			return track{
				length: 200 * time.Millisecond,
				phases: []scenarios.Phase{
					{Name: "twin-greedy", Volley: d.over(), Keys: scenarios.Keys{Fresh: 1}},
					{Name: "twin-modest", Rest: 50 * time.Millisecond, Volley: int(min(d.size, scenarios.VolleySize)), Keys: scenarios.Keys{Fresh: 1}},
				},
			}
		},
	}
}
