package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// halves asks a window for half of what it holds, half a window later for the
// rest, and when the first half is a window old for one, which opens the next
// window where a request does, and then for all: a window that was opened admits
// all of it, a sliding one half. Where the windows lie on a grid it depends on
// where, so there are keys a seventh of a window apart; and since each key may have
// a grid of its own, on which half is what such a window had left, all is asked for
// once more when the second half is a window old. A bucket does neither; the time
// that it takes to fill is a window.
func halves() Trap {
	return Trap{
		Name: "halves", Says: "half of what a window holds, the rest half a window later, and all again when the first half is a window old",
		Finds: []Kind{Forgetful}, Keys: 1, Regular: true,
		Asks: func(l scenarios.Limit) bool { return hasRate(l) && l.Size() > 1 },
		phases: func(d *design) (t track) {
			half, window, n := int(min(d.size/2, scenarios.VolleySize)), d.fill, d.share(2)
			if d.limit.Contract.Forgets() {
				window, n = d.limit.Rate.Per, d.share(7)
			}
			late := d.limit.Slack.Grace(window) + 2*d.c.RTT + 20*time.Millisecond
			if d.c.Keys > 0 {
				n = 1
			}
			keys := scenarios.Keys{Fresh: n}
			all := window + late + 3*d.c.RTT + 10*time.Millisecond
			t.phases = []scenarios.Phase{
				{Name: "first-half", Volley: half, Keys: keys, Every: window / 7},
				{Name: "second-half", Rest: window / 2, Volley: int(d.size) - half, Keys: scenarios.Keys{Of: "first-half"}, Every: window / 7},
				{Name: "opener", Rest: window + late, Volley: 1, Keys: scenarios.Keys{Of: "first-half"}, Every: window / 7},
				{Name: "first-again", Rest: all, Volley: d.over(), Keys: scenarios.Keys{Of: "first-half"}, Every: window / 7},
			}
			last := all
			if d.limit.Contract.Forgets() {
				last += window / 2
				t.phases = append(t.phases, scenarios.Phase{Name: "second-again", Rest: last, Volley: d.over(), Keys: scenarios.Keys{Of: "first-half"}, Every: window / 7})
			}
			t.length = window + last + 100*time.Millisecond
			return t
		},
	}
}
