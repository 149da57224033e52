package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Vigil is how long two clients are watched: longer than half a minute, which is
// how often what corrects clocks, reloads or cleans up does it at the most.
const Vigil = 35 * time.Second

// Unwatched says what the standard scenario, which is over sooner, cannot see.
const Unwatched = "what happens to the server now and then, such as a clock that steps every half a minute, goes unseen in a run that is shorter: --thorough watches for 35s"

// vigil has one client stay below its rate and another ask at twice of it. A clock
// that steps back takes from the first what it has, one that steps forward gives the
// second what it has not earned; a reload or a clean-up gives it a full bucket. Where
// half a minute's polls would be too many the first is asked a few times a second
// only, and the second not at all: its bucket is full within a second anyway.
func vigil() Trap {
	const most = 20 // polls a second
	return Trap{
		Name: "vigil", Says: "two clients watched for more than half a minute, one a little below its rate and one at twice of it: nothing happens to them now and then",
		Finds: []Kind{Seldom}, Keys: 1, Asks: hasRate,
		phases: func(d *design) track {
			calm, hasty := d.limit.Rate.Times(9, 10), d.limit.Rate.Times(2*987, 1013)
			if calm.Tokens(Vigil) > most*int64(Vigil/time.Second) {
				calm = scenarios.Rate{Count: most, Per: time.Second}
			}
			t := track{length: Vigil + d.after(), phases: []scenarios.Phase{
				{Name: "calm", Pace: calm, Count: watched(calm), Keys: scenarios.Keys{Fresh: 1}}}}
			if d.c.Keys == 0 && hasty.Tokens(Vigil) <= 2*most*int64(Vigil/time.Second) {
				t.phases = append(t.phases,
					scenarios.Phase{Name: "before-vigil", Volley: d.drain(), Keys: scenarios.Keys{Fresh: 1}},
					scenarios.Phase{Name: "vigil", Rest: d.after(), Pace: hasty, Count: watched(hasty), Keys: scenarios.Keys{Of: "before-vigil"}})
			}
			return t
		},
	}
}

// watched is how many requests a pace comes to.
func watched(pace scenarios.Rate) int { return int(max(pace.Tokens(Vigil), 2)) }
