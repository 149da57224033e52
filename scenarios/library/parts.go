package library

import (
	"fmt"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// parts asks, for each limit that explains the record, when what was spent comes
// back: half of what it holds now and the other half half a period later, and a
// drained key after half a period. A window gives all or nothing, wherever it
// begins, a log what is a period old, a bucket what came meanwhile. Limits with
// the same numbers are asked about once.
func parts(like []scenarios.Limit) (all []experiment) {
	type numbers struct {
		size int64
		fill time.Duration
	}
	var known []numbers
	for _, l := range like {
		n := numbers{l.Size(), l.Fill()}
		if l.Rate.Count == 0 || l.Size() < 2 || slices.ContainsFunc(known, func(o numbers) bool {
			return o.size == n.size && (o.fill-n.fill).Abs() < n.fill/50
		}) {
			continue
		}
		if known = append(known, n); len(known) > 2 { // what is left is told by these as well
			break
		}
		all = append(all, part(l, fmt.Sprintf("parts of %v", l.Rate)))
	}
	return all
}

// part is the experiment for one of them.
func part(l scenarios.Limit, name string) experiment {
	return experiment{decides: []scenarios.Doubt{scenarios.DoubtPeriods}, Trap: Trap{
		Name: name, Says: "half of it now and half of it half a period later; all of it, and again after half a period",
		Keys: 1, Asks: hasRate,
		phases: func(d *design) (t track) {
			as := newDesign(l, d.c)
			period := l.Rate.Per
			half := as.rested("all", "rest", as.after()+period/2)
			if d.c.Keys == 0 { // at three places of a period
				half.phases[0].Keys.Fresh, half.phases[0].Every, half.phases[1].Every = 3, period/3, period/3
				half.length += period
			}
			halves := halves().phases(as)
			t.phases = append(t.phases, half.phases...)
			for _, p := range halves.phases { // beside the others where there are keys for it
				if d.c.Keys > 0 {
					p.Rest += half.length
				}
				t.phases = append(t.phases, p)
			}
			for i := range t.phases {
				t.phases[i] = t.phases[i].Prefixed(name + ": ")
			}
			t.length = max(half.length, halves.length)
			if d.c.Keys > 0 {
				t.length = half.length + halves.length + as.fill
			}
			return t
		},
	}}
}
