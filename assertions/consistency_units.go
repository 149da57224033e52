package assertions

import (
	"math"
	"math/big"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

const (
	unitLimit  = 1 << 60 // of a time and of a burst, so that sums of a few never overflow
	rampLimit  = 1 << 20 // a drift of a millionth is granted where there is any
	leastUnits = 1000    // in a token; fewer would round too much
	nginxShare = 1000    // parts of a request that nginx counts in; it drops fractions of one
)

// scale turns ticks and tokens into the units of a driftingBucket.
type scale struct {
	tempo
	bucket driftingBucket
	fine   int64 // units in 1/den token
	begin  int64 // tick that is time zero
	tokens int64 // the burst
}

// newScale is for so many requests on a limit between two ticks; ok is false
// where they cannot be counted in 64 bits.
func newScale(sc *scene, l scenarios.Limit, begin, end int64, requests int) (s scale, ok bool) {
	span := max(end-begin, 1)
	fast := ratio(l.Rate, l.Slack.Over, sc.length())
	units := unitLimit / (l.Burst + 1)
	most := new(big.Int).Mul(big.NewInt(unitLimit/span), fast.Denom())
	if most.Quo(most, fast.Num()); most.IsInt64() {
		units = min(units, most.Int64())
	}
	if units < leastUnits {
		return s, false
	}
	s = scale{tempo: fit(fast, units, roundUp), fine: 1, begin: begin, tokens: l.Burst}
	s.grant(sc, l)
	n := int64(requests) + 1
	if s.bucket.ramp == 0 && s.bucket.late == 0 && s.num <= unitLimit/span/n && s.den <= unitLimit/(l.Burst+1)/n {
		s.fine, s.bucket.strict = n, 1
	}
	s.bucket.burst = s.weigh(l.Burst) * s.fine
	return s, true
}

// grant gives the bucket its slack.
func (s *scale) grant(sc *scene, l scenarios.Limit) {
	share := big.NewRat(1_000_000-l.Slack.Under, 1_000_000)
	if sc.early > 0 {
		s.bucket.late = s.gain(ceilDiv(sc.early, sc.tick))
	}
	if l.Contract == scenarios.Nginx { // at each admission, and once more at a refusal
		share.Sub(share, big.NewRat(1, nginxShare))
		s.bucket.late += ceilDiv(s.weigh(l.Burst+1), nginxShare)
	}
	slow := ratio(l.Rate, 0, sc.length())
	s.bucket.ramp = ramp(big.NewRat(s.num, s.den), slow.Mul(slow, share))
}

// ramp is in how much time a bucket loses one unit of it that is as slow as it
// may be, against one that is as fast; 0: it never does.
func ramp(fast, slow *big.Rat) int64 {
	lost := new(big.Rat).Sub(fast, slow)
	if lost.Sign() <= 0 {
		return 0
	}
	q := lost.Quo(fast, lost)
	k := new(big.Int).Quo(q.Num(), q.Denom())
	if !k.IsInt64() {
		return rampLimit
	}
	return max(1, min(k.Int64(), rampLimit))
}

func (s *scale) units(tick int64) int64 { return (tick - s.begin) * s.num * s.fine }

// ticks is a moment in ticks.
func (s *scale) ticks(units int64) int64 { return s.begin + floorDiv(units, s.num*s.fine) }

// task is a request in units.
func (s *scale) task(b *brief, until int64) task {
	return task{from: s.units(b.from), to: s.units(min(b.to, until)), seq: b.seq,
		cost: s.weigh(min(b.cost, s.tokens+1)) * s.fine, refused: b.outcome == results.Limited}
}

// chronicle is what the sample holds of one bucket.
type chronicle struct {
	history
	scale
	slot     int
	requests int
	left     int // requests behind those that it is of
}

// chronicleMost is how many requests a chronicle is of.
const chronicleMost = 1 << 12

// chronicle makes a history of the first requests on a slot. It ends where they
// or the sample do: an admission that may have been decided behind that end may
// have been decided before it or not, a refusal tells nothing then. Requests for
// more than the bucket ever holds are refused whatever it holds, and tell
// nothing either. ok is false where it cannot be counted in 64 bits.
func (s *sample) chronicle(l scenarios.Limit, slot int, of []int32) (c *chronicle, ok bool) {
	of, until, left := s.first(of)
	c = &chronicle{slot: slot, left: left}
	begin, end := s.hits[of[0]].from, s.hits[of[0]].from
	for _, i := range of {
		b := &s.hits[i].brief
		begin = min(begin, b.from)
		if b.to < until && b.outcome != results.Unknown {
			end = max(end, b.to)
		}
	}
	fresh := s.fresh && l.Key.Kind != scenarios.KeyNone
	if !fresh {
		begin = min(begin, floorDiv(-s.early, s.tick))
	}
	if c.scale, ok = newScale(s.scene, l, begin, end, len(of)); !ok {
		return nil, false
	}
	for _, i := range of {
		b := &s.hits[i].brief
		if b.spends() && b.outcome != results.Admitted && b.cost > maybeMost {
			return nil, false
		}
		c.add(b, b.to < until, end)
	}
	c.history.sort()
	c.start = fullAt(-1)
	if !fresh {
		c.start = c.bucket.unknownAt(0)
	}
	return c, true
}

// first are the requests that a chronicle is of, the tick from which on others
// may have been decided, and how many are left out.
func (s *sample) first(of []int32) (some []int32, until int64, left int) {
	until = math.MaxInt64
	if s.full {
		until = s.until
	}
	if left = len(of) - chronicleMost; left > 0 {
		return of[:chronicleMost], min(until, s.hits[of[chronicleMost]].from), left
	}
	return of, until, 0
}

// maybeMost is how much a request may have taken at most to be looked at, where it
// is not known whether it took anything.
const maybeMost = 64

// add takes in a request; known: it was decided before the history ends.
func (c *chronicle) add(b *brief, known bool, end int64) {
	c.requests++
	t := c.task(b, end)
	switch {
	case b.outcome == results.Limited && (!known || b.cost > c.tokens):
	case b.outcome == results.Limited, b.outcome == results.Admitted && known:
		c.sure = append(c.sure, t)
	case b.from <= end:
		// One that was sent several times is charged for each, and may have been
		// let in for some of them: what it may have taken is counted one by one.
		one := *b
		one.cost = 1
		for range min(b.cost, c.tokens) {
			c.maybe = append(c.maybe, c.task(&one, end))
		}
	}
}
