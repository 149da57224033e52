package assertions

import (
	"slices"
	"sort"
)

// proof is a piece of a history that nothing explains.
type proof struct {
	history
	known bool // it begins with a bucket that is known to be full; else any level is tried
}

// refutes searches a history for an explanation, paired first, which is quick,
// and reports whether there is none. It takes its work from left, and no more of
// it than most for each search.
func (o *ordering) refutes(h *history, most int, left *int) bool {
	return o.within(h.paired(), most, left) == impossible || o.within(h, most, left) == impossible
}

// within searches a history in full, with work from left, most at most.
func (o *ordering) within(h *history, most int, left *int) answer {
	given := min(most, *left)
	o.width, o.budget = 0, given
	a := o.solve(h)
	*left -= given - max(o.budget, 0)
	return a
}

// cut makes a history that nothing explains as small as it can: it ends as soon
// as it is impossible, begins as late as it still is, whatever the bucket held
// then, and has no request that it can do without.
func (o *ordering) cut(h *history, known bool, most, left int) proof {
	bad := func(x *history) bool { return o.refutes(x, most, &left) }
	p := proof{history: *h, known: known}
	ends := make([]int64, 0, len(h.sure))
	for _, t := range h.sure {
		ends = append(ends, t.to)
	}
	slices.Sort(ends)
	begin := h.sure[0].from
	first := min(begin, h.start[0].at)
	i := sort.Search(len(ends)-1, func(i int) bool { return bad(h.between(first, ends[i], h.start)) })
	if x := h.between(first, ends[i], h.start); bad(x) {
		p.history = *x
	}
	sure := p.sure
	late := func(i int) *history {
		return p.between(sure[i].from, ends[len(ends)-1], o.unknownAt(sure[i].from))
	}
	if i := sort.Search(len(sure), func(i int) bool { return !bad(late(i)) }); i > 0 {
		p.history, p.known = *late(i - 1), false
	}
	p.thin(bad)
	return p
}

// thin takes out requests that the proof can do without: half of them, quarters,
// and so on down to single ones.
func (p *proof) thin(bad func(*history) bool) {
	for size := (len(p.sure) + 1) / 2; size >= 1; size /= 2 {
		for lo := 0; lo < len(p.sure); {
			x := p.without(lo, min(lo+size, len(p.sure)))
			if len(x.sure) > 0 && bad(x) {
				p.history = *x
			} else {
				lo += size
			}
		}
	}
}
