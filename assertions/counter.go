package assertions

import "sort"

// counter is the model of a sliding window that is estimated from two counts:
// with a window that began at a, cost spent since a counts in full and cost of
// the window before it by the share 1 - (d-a)/W of it that the sliding window
// still covers. Where the windows begin is not known. A refusal was wrong for
// certain when for no a the estimate can have come near the limit.
type counter struct {
	window, limit int64   // ticks; cost
	gone          []spent // ended spenders by First, as far as two windows back
	total         int64
	out           int64
}

func newCounter(window, limit, at int64, fresh bool) *counter {
	c := &counter{window: window, limit: limit}
	if !fresh {
		c.unknown(at)
	}
	return c
}

func (c *counter) start(x *brief) {
	if x.spends() {
		c.out += x.cost
	}
}

func (c *counter) end(x *brief) room {
	if x.spends() {
		c.out -= x.cost
		c.add(x.to, x.cost)
		return room{}
	}
	most, wrong := c.refused(x.from, x.to, x.cost)
	return room{judged: true, wrong: wrong, left: float64(c.limit - most), of: float64(c.limit), since: x.from - 2*c.window}
}

func (c *counter) add(t, cost int64) {
	old := sort.Search(len(c.gone), func(i int) bool { return c.gone[i].at > t-3*c.window })
	c.gone = append(c.gone[:0], c.gone[old:]...)
	c.gone = append(c.gone, spent{t, c.total})
	c.total += cost
}

// since is the cost of the ended spenders that may have been decided at a or later.
func (c *counter) since(a int64) int64 {
	i := sort.Search(len(c.gone), func(i int) bool { return c.gone[i].at >= a })
	if i == len(c.gone) {
		return 0
	}
	return c.total - c.gone[i].before
}

// refused gives the most that may have been spent in the window up to the
// refusal, and whether it was wrong whatever the beginning of the windows.
func (c *counter) refused(sent, t, cost int64) (most int64, wrong bool) {
	most = c.out + c.since(sent-c.window)
	if most+cost > c.limit {
		return most, false
	}
	// Between two moments at which something ended, or was W old, the estimate
	// rises with a: those moments are the ones to look at.
	if c.reaches(sent, sent, cost) {
		return most, false
	}
	for i := len(c.gone) - 1; i >= 0 && c.gone[i].at > sent-2*c.window; i-- {
		for _, a := range []int64{c.gone[i].at, c.gone[i].at + c.window} {
			if a > sent-c.window && a <= t && c.reaches(a, sent, cost) {
				return most, false
			}
		}
	}
	return most, true
}

// reaches reports whether the estimate with windows that begin at a may have
// left too little room at sent or later.
func (c *counter) reaches(a, sent, cost int64) bool {
	now := c.out + c.since(a)
	before := c.since(a-c.window) - c.since(a)
	return weighs(now+cost, before, min(c.window-(sent-a), c.window), c.window, c.limit) > 0
}

func (c *counter) forget(int64) {}

// unknown: the window may be full of what we did not see.
func (c *counter) unknown(t int64) { c.add(t, c.limit) }

func (c *counter) trim(int64)      {}
func (c *counter) heaviest() heavy { return heavy{} }
