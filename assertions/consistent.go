package assertions

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckConsistent is the id of the advice that the refusals of one wait tell of
// one moment.
const CheckConsistent = "retry-after.consistent"

// consistent holds the refusals of one wait against each other. As long as
// nothing is spent, a key reopens at one moment, whoever asks. A refusal that was
// decided in [Sent, First] and rounds the rest up to its unit tells that this is
// in
//
//	[Sent + wait - unit, First + wait]
//
// and all of these must meet. They do as well where each is rounded down, or to
// the nearest; where they do not, what is told is a constant, or has random time
// added to it. A server may do that on purpose (--late-by), so it is advice.
type consistent struct {
	*scene
	slack  scenarios.Slack
	limits []scenarios.Limit
	keys   []wait
	alike  int64 // refusals that were held against another
	clash  int64
	first  [2]refusal    // the two that do not meet
	key    string        // theirs
	apart  time.Duration // by how much
}

// wait is what the refusals of a key agree on while nothing is spent on it.
type wait struct {
	open   int   // requests in flight that may spend
	number int64 // counts the waits: a request that may spend ends one
	some   bool
	cost   int64
	lo, hi int64   // ticks
	least  refusal // that lo is from
	most   refusal // that hi is from
}

// refusal is one that told a wait. Moments are in nanoseconds.
type refusal struct {
	seq, sent, first int64
	wait             time.Duration
}

func newConsistent(sc *scene, slack scenarios.Slack, limits []scenarios.Limit) *consistent {
	return &consistent{scene: sc, slack: slack, limits: limits}
}

func (c *consistent) check() string { return CheckConsistent }
func (c *consistent) trim(int64)    {}

// why says why it is not asked; empty: it is.
func (c *consistent) why() string {
	for _, l := range c.limits {
		switch {
		case l.Contract == scenarios.Concurrency:
			return "when a place comes free nobody knows"
		case l.Key != c.limits[0].Key:
			return "the limits tell clients apart in different ways, so that others may lengthen a wait"
		}
	}
	return ""
}

func (c *consistent) hear(events []event) {
	for _, e := range events {
		if e.f == nil { // more time passed than we saw, or requests are missing
			for i := range c.keys {
				c.keys[i].number++
				c.keys[i].some = false
			}
			continue
		}
		s := int(slot(c.limits[0], e.f.key))
		for s >= len(c.keys) {
			c.keys = append(c.keys, wait{})
		}
		k := &c.keys[s]
		switch {
		case e.f.spends():
			k.spends(e.kind)
		case e.kind == starts:
			e.f.wait = -1
			if k.open == 0 {
				e.f.wait = k.number
			}
		case e.f.asks.Readable() && e.f.asks.Wait > 0 && !e.f.torn && e.f.wait == k.number:
			c.refused(k, e.f)
		}
	}
}

func (k *wait) spends(kind eventKind) {
	if kind == starts {
		k.open++
	} else {
		k.open--
	}
	k.number++
	k.some = false
}

// refused adds what a refusal tells. One that left when the wait was over for
// sure begins another, whatever that wait is for.
func (c *consistent) refused(k *wait, f *flight) {
	lo, hi := c.tells(f)
	this := refusal{f.seq, f.hit.Sent, f.hit.First, f.asks.Wait}
	if !k.some || f.cost != k.cost || f.from > k.hi {
		*k = wait{open: k.open, number: k.number, some: true, cost: f.cost, lo: lo, hi: hi, least: this, most: this}
		return
	}
	c.alike++
	switch {
	case lo > k.hi:
		c.add(f, k.most, this, lo-k.hi)
	case hi < k.lo:
		c.add(f, k.least, this, k.lo-hi)
	}
	if lo > k.lo {
		k.lo, k.least = lo, this
	}
	if hi < k.hi {
		k.hi, k.most = hi, this
	}
}

// tells is when the key reopens by a refusal, in ticks. A date is on a clock of
// which Date tells whole seconds, and may be a second old: it is vague by both.
func (c *consistent) tells(f *flight) (lo, hi int64) {
	wait, vague := f.asks.Wait, f.asks.Grain()
	lo, hi = f.from, f.to
	if f.asks.Form == results.RetryDate {
		vague += time.Second
		lo, hi = lo-(f.to-f.from), hi+(f.to-f.from)
	}
	grace := c.ticks(c.slack.Grace(wait)+time.Duration(share(int64(wait), c.slack.Under))) + 1
	return lo + c.ticks(wait-vague-c.lateBy) - grace, hi + c.ticks(wait) + grace
}

func (c *consistent) add(f *flight, a, b refusal, by int64) {
	if c.clash++; c.clash == 1 {
		c.first, c.key, c.apart = [2]refusal{a, b}, f.hit.Key, time.Duration(by*c.tick)
	}
}

func (c *consistent) tell() []results.Finding {
	f := results.Finding{Check: CheckConsistent, Level: results.Should}
	why := c.why()
	switch {
	case why != "":
		f.Level, f.Text = results.Info, "not asked: "+why
	case c.alike == 0:
		f.Level, f.Text = results.Info, "not asked: no two refusals with a Retry-After were of one wait"
	case c.clash == 0:
		f.Status, f.Text = results.Kept, fmt.Sprintf("the refusals of one wait tell of one moment (%s)", plural(c.alike, "refusal"))
	default:
		a, b := c.first[0], c.first[1]
		f.Status, f.Key, f.Seqs = results.Broken, c.key, []int64{a.seq, b.seq}
		f.FromNS, f.ToNS = min(a.sent, b.sent), max(a.first, b.first)
		f.Got, f.Unit = float64(c.clash), "refusals"
		f.Text = fmt.Sprintf("Retry-After contradicts itself: request %d was told to wait %s and request %d %s, which are moments %s apart although nothing was spent between; so are %d of %s",
			a.seq, duration(int64(a.wait)), b.seq, duration(int64(b.wait)), duration(int64(c.apart)), c.clash, plural(c.alike, "refusal"))
	}
	return []results.Finding{f}
}
