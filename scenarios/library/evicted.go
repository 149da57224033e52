package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// many is how many clients come in between: more than tables of clients hold that
// were made small.
const many = 1000

func evicted() Trap {
	return Trap{
		Name: "evicted", Says: "drained keys, then a thousand others with one request each, then the drained ones again: who has spent is not forgotten to make room",
		Finds: []Kind{Evicted}, Keys: many + 3, Asks: hasRate,
		phases: func(d *design) track {
			const every = 2 * time.Millisecond
			begin := d.after()
			again := begin + many*every + d.c.RTT + 50*time.Millisecond
			return track{
				length: again + 100*time.Millisecond,
				phases: []scenarios.Phase{
					{Name: "before-the-crowd", Volley: d.drain(), Keys: scenarios.Keys{Fresh: 3}},
					{Name: "crowd", Rest: begin, Volley: 1, Every: every, Keys: scenarios.Keys{Fresh: many}},
					{Name: "behind-the-crowd", Rest: again, Volley: d.over(), Keys: scenarios.Keys{Of: "before-the-crowd"}},
				},
			}
		},
	}
}
