package assertions

import "sort"

// span is a stretch of a circle of phases, open at its start and closed at its
// end: (lo, hi], 0 <= lo < hi <= the circle's length.
type span struct{ lo, hi int64 }

// circle is a set of spans on a circle of a length, as disjoint rising spans.
// Spans that touch are one.
type circle struct {
	length int64
	spans  []span
}

// add takes in (lo, hi], given on the endless line of which the circle is a
// turn. Nothing is added where hi <= lo.
func (c *circle) add(lo, hi int64) {
	if hi <= lo {
		return
	}
	if hi-lo >= c.length {
		c.spans = append(c.spans[:0], span{0, c.length})
		return
	}
	lo = mod(lo, c.length)
	hi = mod(hi-1, c.length) + 1
	if lo < hi {
		c.insert(span{lo, hi})
		return
	}
	c.insert(span{lo, c.length})
	c.insert(span{0, hi})
}

// covers reports whether one span of the set holds all of (lo, hi], given as to
// add. One that goes around the circle's start is left to add.
func (c *circle) covers(lo, hi int64) bool {
	if hi <= lo {
		return true
	}
	first, length := mod(lo, c.length), hi-lo
	i := sort.Search(len(c.spans), func(i int) bool { return c.spans[i].hi > first })
	return i < len(c.spans) && c.spans[i].lo <= first && length <= c.spans[i].hi-first
}

func (c *circle) insert(s span) {
	if s.lo >= s.hi {
		return
	}
	from := sort.Search(len(c.spans), func(i int) bool { return c.spans[i].hi >= s.lo })
	to := from
	for ; to < len(c.spans) && c.spans[to].lo <= s.hi; to++ {
		s.lo, s.hi = min(s.lo, c.spans[to].lo), max(s.hi, c.spans[to].hi)
	}
	if from == to {
		c.spans = append(c.spans, span{})
		copy(c.spans[from+1:], c.spans[from:])
		c.spans[from] = s
		return
	}
	c.spans[from] = s
	c.spans = append(c.spans[:from+1], c.spans[to:]...)
}

// full reports whether the set is the whole circle.
func (c *circle) full() bool {
	return len(c.spans) == 1 && c.spans[0] == span{0, c.length}
}

// has reports whether a point of the line lies in the set.
func (c *circle) has(x int64) bool {
	x = mod(x-1, c.length) + 1
	i := sort.Search(len(c.spans), func(i int) bool { return c.spans[i].hi >= x })
	return i < len(c.spans) && c.spans[i].lo < x
}

// gap is the widest stretch that is not in the set, and how much is not in it
// altogether.
func (c *circle) gap() (widest span, total int64) {
	if len(c.spans) == 0 {
		return span{0, c.length}, c.length
	}
	total = c.length
	for i, s := range c.spans {
		total -= s.hi - s.lo
		next := c.spans[(i+1)%len(c.spans)].lo
		if i == len(c.spans)-1 {
			next += c.length
		}
		if next-s.hi > widest.hi-widest.lo {
			widest = span{s.hi, next}
		}
	}
	return widest, total
}

// mod is x modulo m, never negative.
func mod(x, m int64) int64 {
	if x %= m; x < 0 {
		x += m
	}
	return x
}
