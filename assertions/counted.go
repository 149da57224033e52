package assertions

import (
	"math/bits"

	"github.com/ratehammer/ratehammer/results"
)

// counted is the model of a sliding window that is estimated from the counts of
// two windows of a grid, whose phase is known to within an interval: a window
// began at some moment from lo to hi, and others lie a period apart. An
// admission was impossible when even the least estimate had reached the limit,
// and a refusal wrong when even the greatest left room for it. Limiters differ
// in what is held against the limit: halves is how much of the last token counts
// with the estimate. 2: all of it, and it may reach the limit; 1: half, as with
// an estimate that is rounded; 0: nothing, and the estimate must be below the limit.
type counted struct {
	period, drift int64 // ticks; parts per million
	limit, halves int64
	lo, hi        int64   // ticks
	own           bool    // the window that began then was the key's first
	spends        []brief // that may lie in one of the last windows, by from
	most          heavy
}

func newCounted(period, drift, limit, halves, lo, hi int64) *counted {
	return &counted{period: period, drift: drift, limit: limit, halves: halves, lo: lo, hi: hi}
}

// windows are the first and the last window that a request may have been
// decided in, by number.
func (c *counted) windows(b *brief) (first, last int64) {
	first = floorDiv(b.from-c.hi-share(abs(b.from-c.lo), c.drift), c.period)
	last = floorDiv(b.to-c.lo+share(abs(b.to-c.lo), c.drift), c.period)
	if c.own {
		return max(first, 0), max(last, 0)
	}
	return first, last
}

// began is the interval in which a window began.
func (c *counted) began(window int64) (lo, hi int64) {
	lo, hi = c.lo+window*c.period, c.hi+window*c.period
	return lo - share(abs(lo-c.lo), c.drift), hi + share(abs(hi-c.lo), c.drift)
}

func (c *counted) start(x *brief) {
	if !x.spends() {
		return
	}
	old := 0
	for old < len(c.spends) && c.spends[old].to < x.from-4*c.period {
		old++
	}
	c.spends = append(append(c.spends[:0], c.spends[old:]...), *x)
}

func (c *counted) end(x *brief) room {
	switch x.outcome {
	case results.Admitted:
		c.admitted(x)
		return room{}
	case results.Limited:
		return c.refused(x)
	}
	return room{}
}

// admitted looks whether a request was let in although the estimate was full. Of
// those that were certainly let in by its end, in its window, the one that was
// decided last saw all the others, whichever it was, and no later than this end.
// That needs costs of one; of others it is known what the request itself saw.
//
// What was let in in one of two windows, and it is not known in which, counts no
// less than what was let in in the first of them. Where that is so of the request
// itself, the last of all is one of the second window if there are any, else any.
func (c *counted) admitted(x *brief) {
	first, w := c.windows(x)
	if x.torn || first < w-1 {
		return
	}
	n := c.near(x, w)
	before, now := n.before+n.eitherEarlier, n.nowEarlier
	alike := x.cost == 1 && n.alike
	switch {
	case first == w && alike:
		before, now = n.before+n.eitherBy, n.nowBy
	case first == w:
	case !alike:
		return
	case n.nowBy > 0:
		before, now = n.beforeBy+n.eitherBy+1, n.nowBy-1
	default:
		before, now = n.beforeBy+n.eitherBy, 0
	}
	began, _ := c.began(w)
	elapsed := c.longest(x.to - began)
	if over := c.weigh(now, x.cost, before, c.period-elapsed); over > 0 || over == 0 && c.halves == 0 {
		c.most = heavy{any: true, over: true, got: float64(now+before) + float64(x.cost), allowed: float64(c.limit), from: began - c.period, to: x.to, rule: ruleWindow, burst: c.limit}
	}
}

// neighbours are costs that were certainly admitted, beside a request: in the
// window before, in one of the two, or in the window itself. By: by the request's
// end, in the first two of single tokens alone. Earlier: before it left.
type neighbours struct {
	before, beforeBy        int64
	eitherBy, eitherEarlier int64
	nowBy, nowEarlier       int64
	alike                   bool // all of nowBy are single tokens
}

func (c *counted) near(x *brief, w int64) neighbours {
	n := neighbours{alike: true}
	for i := range c.spends {
		s := &c.spends[i]
		if s.outcome != results.Admitted || s.torn || s.seq == x.seq {
			continue
		}
		lo, hi := c.windows(s)
		if lo < w-1 || hi > w {
			continue
		}
		var by, earlier int64
		if s.to <= x.to {
			by = s.cost
		}
		if s.to < x.from {
			earlier = s.cost
		}
		single := by
		if s.cost > 1 {
			single = 0
		}
		switch {
		case lo == w:
			n.nowBy += by
			n.nowEarlier += earlier
			n.alike = n.alike && by <= 1
		case hi == w:
			n.eitherBy += single
			n.eitherEarlier += earlier
		default:
			n.before += s.cost
			n.beforeBy += single
		}
	}
	return n
}
func (c *counted) refused(x *brief) room {
	r := room{judged: true, wrong: true, of: float64(c.limit), since: x.from - 2*c.period, left: float64(c.limit)}
	first, last := c.windows(x)
	for w := first; w <= last; w++ {
		var before, now int64
		for i := range c.spends {
			s := &c.spends[i]
			lo, hi := c.windows(s)
			if lo <= w && w <= hi && s.from <= x.to {
				now += s.cost
			} else if lo <= w-1 && w-1 <= hi {
				before += s.cost
			}
		}
		_, began := c.began(w)
		elapsed := c.shortest(x.from - began)
		over := c.weigh(now, x.cost, before, c.period-elapsed)
		r.wrong = r.wrong && (over < 0 || over == 0 && c.halves == 2)
		r.left = min(r.left, float64(c.limit)-float64(now)-float64(before)*(1-float64(elapsed)/float64(c.period)))
	}
	return r
}

// longest and shortest are what the limiter's clock may say of a time within a
// window, which is no longer than a period.
func (c *counted) longest(d int64) int64 {
	return max(0, min(d+share(max(d, 0), c.drift)+1, c.period))
}

func (c *counted) shortest(d int64) int64 {
	return max(0, min(d-share(max(d, 0), c.drift)-1, c.period))
}

// weigh compares the estimate, with what counts of a request of a cost, with
// the limit.
func (c *counted) weigh(now, cost, before, covered int64) int {
	return weighs(2*(now+cost-1)+c.halves, 2*before, covered, c.period, 2*c.limit)
}

// weighs compares now + before*covered/period with limit, exactly.
func weighs(now, before, covered, period, limit int64) int {
	h1, l1 := bits.Mul64(uint64(now), uint64(period))
	h2, l2 := bits.Mul64(uint64(before), uint64(covered))
	low, carry := bits.Add64(l1, l2, 0)
	high, _ := bits.Add64(h1, h2, carry)
	lh, ll := bits.Mul64(uint64(limit), uint64(period))
	switch {
	case high > lh || high == lh && low > ll:
		return 1
	case high == lh && low == ll:
		return 0
	}
	return -1
}

func (c *counted) forget(t int64) { c.spends = c.spends[:0] }

// unknown: the windows may be full of what we did not see.
func (c *counted) unknown(t int64) {
	c.spends = append(c.spends, brief{from: t - 2*c.period, to: t, cost: c.limit})
}

func (c *counted) trim(int64)      {}
func (c *counted) heaviest() heavy { return c.most }
