package scenarios

import "time"

// Staggered is the plan for one of two servers that are fired at side by side: at
// every other moment, beginning with the first for the one and with the second for the
// other, it comes later by `by`, so that neither is always the second. What leaves at
// one moment stays together, and nothing is moved further than half of the way to the
// next moment, so that the order stays too. Attacks are not moved: their moments follow
// from the answers.
func (p Plan) Staggered(first bool, by time.Duration) Plan {
	shots := make([]Shot, len(p.Shots))
	for from, later := 0, first; from < len(p.Shots); later = !later {
		at, to := p.Shots[from].At, from
		for to < len(p.Shots) && p.Shots[to].At == at {
			to++
		}
		shift := int64(0)
		if later {
			shift = int64(by)
			if to < len(p.Shots) {
				shift = min(shift, (p.Shots[to].At-at)/2)
			}
		}
		for i := from; i < to; i++ {
			shots[i] = p.Shots[i]
			shots[i].At += shift
		}
		from = to
	}
	p.Shots = shots
	p.Length += by
	return p
}
