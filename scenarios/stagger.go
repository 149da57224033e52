package scenarios

import (
	"slices"
	"time"
)

// Staggered is the plan for one of two servers that are fired at side by side: at
// every other moment, beginning with the first for the one and with the second for the
// other, it comes later by `by`, so that neither is always the second. What leaves at
// one moment stays together, and nothing is moved further than half of the way to the
// next moment, so that the order stays too. Attacks are not moved: their moments follow
// from the answers.
func (p Plan) Staggered(first bool, by time.Duration) Plan {
	shots := slices.Collect(p.Shots.All())
	for from, later := 0, first; from < len(shots); later = !later {
		at, to := shots[from].At, from
		for to < len(shots) && shots[to].At == at {
			to++
		}
		shift := int64(0)
		if later {
			shift = int64(by)
			if to < len(shots) {
				shift = min(shift, (shots[to].At-at)/2)
			}
		}
		for i := from; i < to; i++ {
			shots[i].At += shift
		}
		from = to
	}
	p.Shots = ShotsOf(shots)
	p.Length += by
	return p
}
