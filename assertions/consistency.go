package assertions

import (
	"cmp"
	"math"
	"slices"
)

// ordering searches for an order and moments of decision that explain a history
// with a driftingBucket. It extends sets of decided requests by one request at a
// time, and keeps for each set the curve of what the bucket may have become; a set
// that is reached in several orders has the least of their curves. Three prunings,
// none of which loses an explanation, keep the sets few:
//   - The next decision is no later than the earliest end of the sure requests
//     that are undecided.
//   - Of two sure requests alike, one that begins and ends no later than the
//     other goes first: where it does not, they can change places.
//   - Of two alike that may have been decided, where the one that begins and
//     ends no later was not taken before the other, it is over by then; else they
//     can change places, or it can take the other's.
//
// The work grows with 2^k for k requests at once that are all different, and with
// the product of the numbers in each class where those alike begin and end in
// the same order.
type ordering struct {
	driftingBucket
	width  int // how many sets of one size are kept, the likeliest; 0: all
	budget int // decisions that may still be tried

	h       *history
	free    []layer // whose memory can be used again
	layers  []layer // by the number of requests in the set
	crowded bool    // a set had no place, for more requests were in flight than it has bits
	reached int     // most sure requests that were decided without a gap
	classes []int64 // by class: earliest end among the undecided
	settled curve   // of the set that is extended
	next    curve   // of the one it becomes
	merged  curve
}

// layer is the sets of one size.
type layer struct {
	sets  []branch
	index map[decided]int32
	arena curve
}

// branch is a set and what the bucket may be when it is what was decided.
type branch struct {
	decided
	f     curve
	early int64 // the earliest moment on f
	end   int64 // the latest moment of the next decision; set when the set's turn comes
}

// answer of a search.
type answer uint8

const (
	undecided answer = iota // it was not searched to the end
	possible
	impossible
)

// solve searches a history.
func (o *ordering) solve(h *history) answer {
	o.h, o.reached, o.crowded = h, 0, false
	for i := range o.layers {
		o.release(&o.layers[i])
	}
	o.layers = make([]layer, len(h.sure)+len(h.maybe)+1)
	o.classes = make([]int64, h.classes())
	o.next = append(o.next[:0], h.start...)
	o.keep(decided{}, true)
	whole := true // nothing that could explain it was left out
	for n := range o.layers {
		l := &o.layers[n]
		for i := range l.sets {
			l.sets[i].end = o.end(&l.sets[i].decided)
		}
		whole = o.narrow(l) && whole
		for i := range l.sets {
			if int(l.sets[i].sure) == len(h.sure) {
				return possible
			}
			if o.extend(&l.sets[i]); o.budget < 0 {
				return undecided
			}
		}
		o.release(l)
	}
	if !whole || o.crowded {
		return undecided
	}
	return impossible
}

// extend tries each request that may be decided next.
func (o *ordering) extend(s *branch) {
	h, end := o.h, s.end
	o.settled = o.settle(o.settled[:0], s.f, end)
	if len(o.settled) == 0 {
		return
	}
	for c := range o.classes {
		o.classes[c] = math.MaxInt64
	}
	for i := int(s.sure); i < len(h.sure) && h.sure[i].from <= end; i++ {
		t := &h.sure[i]
		if s.has(i) || o.classes[t.class] <= t.to {
			continue
		}
		o.classes[t.class] = t.to
		o.decide(t, t.from, min(t.to, end))
		o.keep(s.with(i))
	}
	for i := int(s.maybe); i < len(h.maybe) && h.maybe[i].from <= end; i++ {
		if t := &h.maybe[i]; !s.settled(i) {
			o.decide(t, o.behind(s, i), min(t.to, end))
			o.keep(s.withMaybe(i))
		}
	}
}

// end is the latest moment of the next decision.
func (o *ordering) end(d *decided) int64 {
	end := int64(math.MaxInt64)
	for i := int(d.sure); i < len(o.h.sure); i++ {
		t := &o.h.sure[i]
		if t.from > end {
			break
		}
		if t.to < end && !d.has(i) {
			end = t.to
		}
	}
	return end
}

// behind is the earliest moment for one that may have been decided.
func (o *ordering) behind(s *branch, i int) int64 {
	t := &o.h.maybe[i]
	from := t.from
	for j := int(s.maybe); j < i; j++ {
		if x := &o.h.maybe[j]; x.class == t.class && x.to <= t.to && !s.settled(j) {
			from = max(from, x.to)
		}
	}
	return from
}

// decide leaves in next what the settled curve becomes by a decision.
func (o *ordering) decide(t *task, from, to int64) {
	o.budget--
	if t.refused {
		o.next = o.refuse(o.next[:0], o.settled, from, to, t.cost)
	} else {
		o.next = o.admit(o.next[:0], o.settled, from, to, t.cost)
	}
}

// keep takes in a set, with next as its curve: into that of the same set, where
// there is one. Those that come too late by now are settled.
func (o *ordering) keep(d decided, ok bool) {
	if len(o.next) == 0 {
		return
	}
	early := int64(math.MaxInt64)
	for _, p := range o.next {
		early = min(early, p.at)
	}
	for i := int(d.maybe); i < len(o.h.maybe) && o.h.maybe[i].from <= early && ok; i++ {
		if !d.settled(i) && o.h.maybe[i].to < early {
			d, ok = d.withMaybe(i)
		}
	}
	if !ok {
		o.crowded = true
		return
	}
	o.reached = max(o.reached, int(d.sure))
	o.layers[d.count()].take(d, early, o)
}

// take merges a set into the layer.
func (l *layer) take(d decided, early int64, o *ordering) {
	if l.index == nil {
		*l = o.fresh()
	}
	i, has := l.index[d]
	if !has {
		l.index[d] = int32(len(l.sets))
		l.sets = append(l.sets, branch{decided: d, f: l.copy(o.next), early: early})
		return
	}
	s := &l.sets[i]
	o.merged = o.merged[:0].lesser(s.f, o.next)
	s.f, s.early = l.copy(o.merged), min(s.early, early)
}

// fresh is a layer without sets.
func (o *ordering) fresh() layer {
	n := len(o.free) - 1
	if n < 0 {
		return layer{index: map[decided]int32{}}
	}
	l := o.free[n]
	o.free = o.free[:n]
	return l
}

// release takes the memory of a layer back.
func (o *ordering) release(l *layer) {
	if l.index != nil {
		clear(l.index)
		o.free = append(o.free, layer{l.sets[:0], l.index, l.arena[:0]})
	}
	*l = layer{}
}

// copy keeps a curve for as long as the layer.
func (l *layer) copy(f curve) curve {
	n := len(l.arena)
	l.arena = append(l.arena, f...)
	return l.arena[n:len(l.arena):len(l.arena)]
}

// narrow leaves no more sets than the width: those that have most time left for
// the next decision. It reports whether they are all.
func (o *ordering) narrow(l *layer) bool {
	if o.width == 0 || len(l.sets) <= o.width {
		return true
	}
	slices.SortFunc(l.sets, func(a, b branch) int {
		return cmp.Or(cmp.Compare(b.end-b.early, a.end-a.early), cmp.Compare(a.early, b.early))
	})
	l.sets = l.sets[:o.width]
	return false
}
