package assertions

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// byCrowd finds that a drained key is full again when many others came meanwhile,
// and not when it was left alone.
func (d *diagnosis) byCrowd([]results.Cause) (c results.Cause, ok bool) {
	const crowd, few = 100, 10
	broken := map[int32]bool{}
	for _, b := range d.breaches() {
		if d.fired(b) {
			broken[b.key] = true
		}
	}
	var hit, missed, spoiled, left int // keys that a crowd came between, and keys left alone: broken and not
	for key, met := range d.met() {
		switch {
		case met >= crowd && broken[key]:
			hit++
		case met >= crowd:
			missed++
		case met < few && broken[key]:
			spoiled++
		case met < few:
			left++
		}
	}
	// A table of a few keys is full now and then by those of the trial itself.
	if hit == 0 || missed > 0 || left == 0 || spoiled > left {
		return c, false
	}
	return results.Cause{ID: CauseEvicted, Text: "a key that has spent is forgotten when many others come, and begins with a full budget: the table of keys is too small, or cleared when it is full",
		Reasons: []string{fmt.Sprintf("%s had a full budget again after at least %d other keys had come, and none of %d that were left alone for as long", plural(int64(hit), "drained key"), crowd, left)}}, true
}

// met is, by key that was drained and asked again after a pause, how many others
// were first used in the pause.
func (d *diagnosis) met() map[int32]int {
	pause := d.whole.ticks(300 * time.Millisecond)
	born, last, pauses := map[int32]int64{}, map[int32]int64{}, map[int32][2]int64{}
	drained := map[int32]bool{}
	for _, h := range d.whole.hits[d.after:] {
		if _, used := born[h.key]; !used {
			born[h.key] = h.from
		} else if h.from-last[h.key] > pause && drained[h.key] {
			pauses[h.key] = [2]int64{last[h.key], h.from}
		}
		drained[h.key] = drained[h.key] || h.outcome == results.Limited
		last[h.key] = max(last[h.key], h.to)
	}
	met := map[int32]int{}
	for key, p := range pauses {
		met[key] = 0
		for _, at := range born {
			if at > p[0] && at < p[1] {
				met[key]++
			}
		}
	}
	return met
}
