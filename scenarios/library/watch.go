package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// watch polls several drained keys side by side, which did not begin together,
// for longer than the time between two of the moments at which something went
// wrong: what happens to the server happens to all of them at the same moment.
func watch(span time.Duration) experiment {
	return experiment{decides: []scenarios.Doubt{scenarios.DoubtMoments}, Trap: Trap{
		Name: "watch", Says: "several keys polled side by side, begun at different moments",
		Keys: 2, Asks: hasRate,
		phases: func(d *design) track {
			every := min(max(330*time.Millisecond, d.token*17/10), 2*time.Second) // their ages are not the same then
			n := d.share(5)
			length := min(max(span+span/2, 3*time.Second), 15*time.Second)
			gap := max(d.token/3, 2*time.Millisecond, length/400)
			keys := scenarios.Keys{Of: "watch: drained"}
			return track{
				length: time.Duration(n)*every + d.after() + length + d.c.RTT,
				phases: []scenarios.Phase{
					{Name: "watch: drained", Volley: d.drain(), Every: every, Keys: scenarios.Keys{Fresh: max(n, 1)}},
					{Name: "watch", Rest: d.after(), Every: every, Pace: scenarios.Rate{Count: 1, Per: gap}, Count: int(length / gap), Keys: keys},
				},
			}
		},
	}}
}
