package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// staircase drains keys and polls them through some periods of a limit that gives
// back so many at a time, so densely that both how many and when are seen.
func staircase(like []scenarios.Limit) experiment {
	return experiment{decides: []scenarios.Doubt{scenarios.DoubtSteps}, Trap: Trap{
		Name: "steps", Says: "drained keys polled densely through some periods",
		Keys: 1, Asks: hasRate,
		phases: func(d *design) track {
			period, n := d.fill/2, d.share(2)
			for _, l := range like {
				if l.Contract == scenarios.Lumps {
					period = l.Rate.Per
				}
			}
			gap := max(period/stepPolls, d.bearable())
			length := min(period*stepsSeen, max(d.most-d.after()-2*d.c.RTT-gap-50*time.Millisecond, period))
			return track{
				length: d.after() + length + gap + d.c.RTT,
				phases: []scenarios.Phase{
					{Name: "steps: drained", Volley: d.drain(), Keys: scenarios.Keys{Fresh: n}},
					{Name: "steps", Rest: d.after(), Every: gap / time.Duration(n), Pace: scenarios.Rate{Count: 1, Per: gap},
						Count: int(length / gap), Keys: scenarios.Keys{Of: "steps: drained"}},
				},
			}
		},
	}}
}

const (
	stepsSeen = 5   // periods
	stepPolls = 120 // in each, on each key
)
