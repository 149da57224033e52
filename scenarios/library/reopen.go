package library

import "github.com/ratehammer/ratehammer/scenarios"

// reopenPolls is how many polls a window is watched with.
const reopenPolls = 40

// reopen drains a window and watches it open again, twice on one key, the second
// time half a window later than a whole number of windows. A window that a request
// opens is open again a window later both times; one that lies on a grid at one place
// of it; and one that ends with the ticks of a coarse clock at neither.
func reopen() Trap {
	return Trap{
		Name: "reopen", Says: "a window drained and watched until it opens again, twice on one key and two and a half windows apart: it is as long both times, or lies where it lay",
		Finds: []Kind{Shifting}, Keys: 1, Regular: true,
		Asks: func(l scenarios.Limit) bool { return l.Contract == scenarios.FixedWindow },
		phases: func(d *design) track {
			window := d.limit.Rate.Per
			watched := func(name string, rest int64) scenarios.Phase {
				return scenarios.Phase{Name: name, Rest: d.after() + scale(window, rest, 2), Pace: scenarios.Rate{Count: reopenPolls, Per: window},
					Count: reopenPolls * 13 / 10, Keys: scenarios.Keys{Of: "close"}}
			}
			return track{length: 4*window + d.after(), phases: []scenarios.Phase{
				{Name: "close", Volley: d.drain(), Keys: scenarios.Keys{Fresh: 1}},
				watched("reopens", 0),
				{Name: "close-again", Rest: scale(window, 5, 2), Volley: d.drain(), Keys: scenarios.Keys{Of: "close"}},
				watched("reopens-again", 5),
			}}
		},
	}
}
