package assertions

import (
	"fmt"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckExact is the id of the exact check: some order and some moments explain
// all that a bucket admitted and refused, taken together.
const CheckExact = "bound.exact"

const (
	plainWidth = 4       // sets of a size that are followed in a first look
	wideWidth  = 64      // and in a second
	keyWork    = 200_000 // decisions tried in a look at a key
	lookWork   = 600_000 // and in all looks
	fullWork   = 150_000 // and in the full search of one history
	searchWork = 600_000 // and in all full searches
	stepWork   = 50_000  // and in each step by which a proof is made smaller
	cutWork    = 500_000 // and in all of them
	nearBefore = 200     // sure requests before the place that was not explained, that are searched where all are too many
	nearBehind = 60      // and behind it
)

// consistency asks of each key whether a bucket can have given all of its
// history. The bounds ask for what each window and each refusal need by
// themselves; where requests overlap, a history can keep both and still be
// impossible. Most histories are explained by the first orders that come to
// mind; one that is not is suspicious, and is searched in full, as far as the
// work is bounded.
type consistency struct {
	sample *sample
	limits []scenarios.Limit
	work   int // decisions left for looks
	deep   int // and for full searches
	order  ordering
	count  consistencyCount
	proof  *proof
	at     *chronicle // that the proof is of
	open   *chronicle // the first that was searched and not decided
}

// consistencyCount is what was found.
type consistencyCount struct {
	keys     int // explained
	requests int // on them
	full     int // of them, keys that were searched in full
	alike    int // of them, keys that are explained if requests alike may change their answers' times
	left     int // requests that were not looked at
	open     int // keys that were searched and not decided
	broken   int // keys that nothing explains
}

func newConsistency(s *sample, limits []scenarios.Limit) *consistency {
	return &consistency{sample: s, limits: limits, work: lookWork, deep: searchWork}
}

func (c *consistency) check() string { return CheckExact }
func (c *consistency) hear([]event)  {}
func (c *consistency) trim(int64)    {}

// asks reports whether the promise is one bucket's.
func (c *consistency) asks() bool {
	if len(c.limits) != 1 {
		return false
	}
	switch c.limits[0].Contract {
	case "", scenarios.TokenBucket, scenarios.GCRA, scenarios.Nginx:
		return true
	}
	return false
}

func (c *consistency) tell() []results.Finding {
	if !c.asks() {
		return nil
	}
	s, l := c.sample, c.limits[0]
	f := results.Finding{Check: CheckExact, Limit: l.Name}
	if s.play(newCourt(s.scene, c.limits), s.moments(), 0) {
		f.Level, f.Text = results.Info, "not asked: a bound is broken already"
		return []results.Finding{f}
	}
	for slot, of := range s.slots(l) {
		if len(of) > 0 {
			c.judge(slot, of)
		}
	}
	c.conclude(&f)
	return []results.Finding{f}
}

// slots are the requests of the sample by budget.
func (s *sample) slots(l scenarios.Limit) [][]int32 {
	var of [][]int32
	for i := range s.hits {
		n := int(slot(l, s.hits[i].key))
		for n >= len(of) {
			of = append(of, nil)
		}
		of[n] = append(of[n], int32(i))
	}
	return of
}

// judge looks at one budget, and searches it where a look does not explain it.
func (c *consistency) judge(slot int, of []int32) {
	x, ok := c.sample.chronicle(c.limits[0], slot, of)
	if !ok || c.work <= 0 {
		c.count.left += len(of)
		return
	}
	c.order.driftingBucket = x.bucket
	c.count.left += x.left
	for _, width := range []int{plainWidth, wideWidth} {
		switch a := c.look(&x.history, width); {
		case a == possible:
			c.explained(x)
			return
		case a == impossible:
			c.impossible(x, &x.history, true)
			return
		case c.order.crowded || c.order.budget < 0: // it was not the orders that failed
			c.count.left += x.requests
			return
		}
	}
	c.search(x, c.order.reached)
}

// look searches a history by the likeliest orders alone.
func (c *consistency) look(h *history, width int) answer {
	given := min(c.work, keyWork)
	c.order.width, c.order.budget = width, given
	a := c.order.solve(h)
	c.work -= given - max(c.order.budget, 0)
	return a
}

func (c *consistency) explained(x *chronicle) {
	c.count.keys++
	c.count.requests += x.requests
}

// search decides a suspicious history where it can be done in the bound: with
// the requests of a class paired, then as it is, then the place alone at which
// the look was stuck, from any level.
func (c *consistency) search(x *chronicle, stuck int) {
	pairs := x.paired()
	paired := c.look(pairs, wideWidth)
	if paired == undecided {
		paired = c.order.within(pairs, fullWork, &c.deep)
	}
	if paired == impossible {
		c.impossible(x, &x.history, true)
		return
	}
	switch c.order.within(&x.history, fullWork, &c.deep) {
	case possible:
		c.explained(x)
		c.count.full++
		return
	case impossible:
		c.impossible(x, &x.history, true)
		return
	}
	begin, end := x.sure[max(0, stuck-nearBefore)].from, x.sure[min(len(x.sure)-1, stuck+nearBehind)].to
	near := x.between(begin, end, c.order.unknownAt(begin))
	switch {
	case len(near.sure) > 0 && c.order.refutes(near, fullWork, &c.deep):
		c.impossible(x, near, false)
	case paired == possible:
		c.explained(x)
		c.count.alike++
	default:
		if c.count.open++; c.open == nil {
			c.open = x
		}
	}
}

// impossible takes in a proof, of which the first is made small and told.
func (c *consistency) impossible(x *chronicle, h *history, whole bool) {
	c.count.broken++
	if c.proof == nil {
		full := whole && c.sample.fresh && c.limits[0].Key.Kind != scenarios.KeyNone
		p := c.order.cut(h, full, stepWork, cutWork)
		c.proof, c.at = &p, x
	}
}

func (c *consistency) conclude(f *results.Finding) {
	n := c.count
	switch {
	case n.broken > 0:
		c.accuse(f)
	case n.open > 0:
		f.Key = c.sample.name(c.limits[0], c.open.slot)
		f.FromNS, f.ToNS = c.window(c.open, c.open.sure)
		f.Text = fmt.Sprintf("%s left open: no plain order of decisions explains the history of the key, and so many of its requests overlap that not all orders could be searched; fewer requests in flight would help",
			plural(int64(n.open), "key"))
	case n.keys == 0:
		f.Level, f.Text = results.Info, "not asked: more requests overlap than can be searched"
		if n.left == 0 {
			f.Text = "not asked: there is no request on any key"
		}
	default:
		f.Status = results.Kept
		f.Text = fmt.Sprintf("an order and moments of decision were found that explain all of %s on %s together", plural(int64(n.requests), "request"), plural(int64(n.keys), "key"))
		if n.full > 0 {
			f.Text += fmt.Sprintf(", on %d of them by a full search", n.full)
		}
		if n.alike > 0 {
			f.Text += fmt.Sprintf("; on %d of them only if requests for the same and with the same outcome may change places, as more overlap than can be searched", n.alike)
		}
		if n.left > 0 {
			f.Text += fmt.Sprintf("; %d more were not looked at", n.left)
		}
	}
}

// accuse fills in the proof that nothing explains a piece of a history.
func (c *consistency) accuse(f *results.Finding) {
	l, p, refused := c.limits[0], c.proof, 0
	for _, t := range p.sure {
		f.Seqs = append(f.Seqs, t.seq)
		if t.refused {
			refused++
		}
	}
	n := int64(len(p.sure))
	f.Status, f.Key = results.Broken, c.sample.name(l, c.at.slot)
	f.FromNS, f.ToNS = c.window(c.at, p.sure)
	these := fmt.Sprintf("these %s (%d admitted, %d refused)", plural(n, "request"), int(n)-refused, refused)
	if n == 1 {
		these = "this request"
	}
	f.Text = fmt.Sprintf("no order and no moments of decision explain %s within %s with %s", these, duration(f.ToNS-f.FromNS), terms(l))
	if c.count.broken > 1 {
		f.Text += fmt.Sprintf("; so on %d keys", c.count.broken)
	}
	f.Proof = "every order that their times allow was tried, from a bucket of any level"
	if p.known {
		f.Proof = "every order that their times allow was tried, from the full bucket of a new key"
	}
	if len(p.maybe) > 0 {
		f.Proof += fmt.Sprintf(", whether or not %s meanwhile took anything", plural(int64(len(p.maybe)), "other request"))
	}
	if s := l.Slack; s != (scenarios.Slack{}) {
		f.Proof += fmt.Sprintf("; a clock step of %s, %d ppm faster and %d ppm slower granted", duration(int64(s.Quantum)), s.Over, s.Under)
	}
}

// window is when requests of a chronicle were on their way.
func (c *consistency) window(x *chronicle, of []task) (fromNS, toNS int64) {
	from, to := of[0].from, of[0].to
	for _, t := range of {
		to = max(to, t.to)
	}
	return c.sample.clock(x.ticks(from), x.ticks(to))
}
