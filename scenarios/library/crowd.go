package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// crowded is how many keys a crowd has: more than small tables of clients hold.
const crowded = 300

// crowd drains keys and asks again after a while in which nothing else is sent;
// then the same with a crowd of other keys meanwhile. A table that forgets who
// has spent, to make room, gives a drained key a full bucket.
func crowd() experiment {
	return experiment{decides: []scenarios.Doubt{scenarios.DoubtCrowds}, Trap: Trap{
		Name: "crowd", Says: "drained keys asked again, once when left alone and once when many others came meanwhile",
		Asks: hasRate,
		unfit: func(d *design) string {
			if d.c.Keys > 0 {
				return "keys: it takes any number of them"
			}
			return ""
		},
		phases: func(d *design) track {
			const every = 2 * time.Millisecond
			while := crowded*every + d.c.RTT + 100*time.Millisecond
			n := scenarios.Keys{Fresh: d.share(2)}
			begin := d.after()
			t := track{phases: []scenarios.Phase{
				{Name: "left alone: drained", Volley: d.drain(), Keys: n},
				{Name: "left alone: again", Rest: begin + while, Volley: d.over(), Keys: scenarios.Keys{Of: "left alone: drained"}},
			}}
			second := begin + while + d.after() + 50*time.Millisecond
			t.phases = append(t.phases,
				scenarios.Phase{Name: "in a crowd: drained", Rest: second, Volley: d.drain(), Keys: n},
				scenarios.Phase{Name: "in a crowd: others", Rest: second + begin, Volley: 1, Every: every, Keys: scenarios.Keys{Fresh: crowded}},
				scenarios.Phase{Name: "in a crowd: again", Rest: second + begin + while, Volley: d.over(), Keys: scenarios.Keys{Of: "in a crowd: drained"}})
			t.length = second + begin + while + d.after()
			return t
		},
	}}
}
