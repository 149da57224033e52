package library

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// herd has fifty clients refused within a second or more, all of whom do as they
// are told: when they come back they are a load of their own.
func herd() Trap {
	return Trap{
		Name: "herd", Says: "many clients that were refused one after the other come back as Retry-After says: how much of a crowd they are then",
		Finds: []Kind{Herd}, Keys: 1, Asks: hasRate,
		unfit: func(d *design) string {
			if d.c.Keys > 1 && d.c.Keys < 10 {
				return fmt.Sprintf("keys: it takes 10, %d given", d.c.Keys)
			}
			return ""
		},
		phases: func(d *design) track {
			if d.c.Keys == 1 || d.limit.Key.Kind == scenarios.KeyNone {
				return d.queueing()
			}
			n := max(10, min(50, 1500/d.drain()))
			if d.c.Keys > 0 {
				n = min(n, d.c.Keys)
			}
			// Where all are told one moment, they come closer together than they were refused.
			spread := min(max(d.fill, time.Second), 5*time.Second)
			every := max(spread/time.Duration(n), time.Duration(d.drain())*scenarios.RequestTime)
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

// queueing has them share one budget: all that came back but those for whom there
// is something are sent away once more.
func (d *design) queueing() track {
	pace := scenarios.Rate{Count: 50, Per: time.Second}
	const tries = 3
	return track{
		length: d.after() + time.Second + tries*(d.limit.Longest()+2*time.Second),
		phases: []scenarios.Phase{
			{Name: "herd-drained", Volley: d.drain(), Keys: scenarios.Keys{Fresh: 1}},
			{Name: "herd", Rest: d.after(), Pace: pace, Count: 50, Retry: scenarios.RetryObey, Tries: tries, Keys: scenarios.Keys{Of: "herd-drained"}},
		},
	}
}
