package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// herd has fifty clients refused within a second, all of whom do as they are told:
// when they come back they are a load of their own.
func herd() Trap {
	return Trap{
		Name: "herd", Says: "many clients refused within a second come back as Retry-After says: how much of a crowd they are then",
		Finds: []Kind{Herd}, Keys: 10, Asks: hasRate,
		phases: func(d *design) track {
			n := max(10, min(50, 1500/d.drain()))
			if d.c.Keys > 0 {
				n = min(n, d.c.Keys)
			}
			every := max(time.Second/time.Duration(n), time.Duration(d.drain())*scenarios.RequestTime)
			return track{
				length: time.Duration(n)*every + d.after() + d.limit.Longest() + 3*time.Second,
				phases: []scenarios.Phase{
					{Name: "herd-drained", Volley: d.drain(), Every: every, Keys: scenarios.Keys{Fresh: n}},
					{Name: "herd", Rest: d.after(), Pace: d.limit.Rate, Count: 1, Every: every, Retry: scenarios.RetryObey, Keys: scenarios.Keys{Of: "herd-drained"}},
				},
			}
		},
	}
}
