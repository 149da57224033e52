package library

import (
	"fmt"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// manyTwins is how many keys are drained alike to find when they reopen.
const manyTwins = 12

// bracket drains twelve keys alike. Each is then left alone for another time and
// asked once: the last that is refused and the first that is admitted have the
// true moment between them, and no question of one has changed the answer to
// another. Four ask around the moment at which a token, or a whole window since the
// first request, is there again, 30 ms apart; the others are spread from the drain
// to half as much again, for limiters that open elsewhere.
func bracket() Trap {
	return Trap{
		Name: "bracket", Says: "twelve keys drained alike, each asked once after another wait: when they reopen is known to some 30 ms, and is what Retry-After said",
		Finds: []Kind{WrongWait}, Keys: manyTwins, Asks: hasRate,
		called: func(d *design) bool { return manyTwins*d.drain() <= 300 && (d.c.Keys == 0 || d.c.Keys >= 4*manyTwins) },
		phases: func(d *design) (t track) {
			for i, wait := range d.waits() {
				drained := fmt.Sprintf("before-bracket-%d", i+1)
				start := time.Duration(i) * (20*time.Millisecond + time.Duration(d.drain())*scenarios.RequestTime)
				if d.c.Keys > 0 {
					start = 0
				}
				t.phases = append(t.phases,
					scenarios.Phase{Name: drained, Rest: start, Volley: d.drain(), Keys: scenarios.Keys{Fresh: 1}},
					scenarios.Phase{Name: fmt.Sprintf("bracket-%d", i+1), Rest: start + wait, Pace: d.limit.Rate, Count: 1, Keys: scenarios.Keys{Of: drained}})
				t.length = max(t.length, start+wait+d.c.RTT+10*time.Millisecond)
			}
			if d.c.Keys > 0 { // each pair of phases counts its own time
				t.length *= manyTwins
			}
			return t
		},
	}
}

// waits are those of the twins since their drain began, in order. None is over
// before the drain is.
func (d *design) waits() (all []time.Duration) {
	open := d.limit.Longest()
	step := min(15*time.Millisecond, open/48)
	for _, n := range []time.Duration{-3, -1, 1, 3} {
		all = append(all, open+n*step)
	}
	for n := range time.Duration(manyTwins - len(all)) {
		all = append(all, open/12+open*n/5)
	}
	slices.Sort(all)
	for i := range all {
		all[i] = max(all[i], d.after()+time.Duration(i)*time.Millisecond)
	}
	return all
}
