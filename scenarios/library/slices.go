package library

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Through a long way about every hundredth answer is lost, and what a key has left
// is not known behind a loss: a key that is polled a hundred times tells nothing.
// So the polls of one period are dealt out to many keys, a slice of the period to
// each; sliceCount is how many, and perSlice how many keys each has, of which some are
// likely to meet no loss.
const (
	farAway    = 50 * time.Millisecond
	sliceCount = 12
	perSlice   = 4
)

// far reports whether losses are to be expected.
func (d *design) far() bool { return d.lossy() && d.c.RTT >= farAway }

// sliced adds keys to a track that are all drained at once, and once more four
// periods later, and each polled in its slice alone. Something comes back in one of
// the slices, each time in the same one, and the time between tells the period.
func (d *design) sliced(t track) track {
	window := d.limit.Rate.Per
	apart := 4 * window
	slice := (window + 2*d.token) / sliceCount
	gap := d.sliceGap(apart)
	for i := range time.Duration(sliceCount) {
		start := i * (20*time.Millisecond + time.Duration(d.drain()*perSlice)*scenarios.RequestTime)
		name := fmt.Sprintf("slice-%d", i+1)
		keys := scenarios.Keys{Of: "before-" + name}
		polls := func(name string, rest time.Duration) scenarios.Phase {
			return scenarios.Phase{Name: name, Rest: rest + max(i*slice-gap, d.after()), Pace: scenarios.Rate{Count: 1, Per: gap}, Count: int(slice/gap) + 3, Keys: keys}
		}
		t.phases = append(t.phases,
			scenarios.Phase{Name: keys.Of, Rest: start, Volley: d.drain(), Keys: scenarios.Keys{Fresh: perSlice}},
			polls(name, start),
			scenarios.Phase{Name: keys.Of + "-again", Rest: start + apart, Volley: d.drain(), Keys: keys},
			polls(name+"-again", start+apart))
		t.length = max(t.length, start+apart+window+slice+d.after())
	}
	return t
}

// sliceGap is the time between two polls of a slice: so much that both ends of what
// lies between the drains are known well enough, with something to spare.
func (d *design) sliceGap(lever time.Duration) time.Duration {
	wanted := max(d.c.Wanted-max(d.limit.Slack.Over, d.limit.Slack.Under), d.c.Wanted/4)
	gap := scale(scale(lever, wanted, 2_000_000)-d.c.RTT-d.limit.Slack.Quantum, 4, 5)
	return max(gap, d.c.RTT/underWay, d.bearable())
}
