package library

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Circumstances are what a scenario is fitted to.
type Circumstances struct {
	RTT    time.Duration // measured from request to answer; 0: a millisecond
	Keys   int           // how many keys there are; 0: any number can be invented
	Budget time.Duration // how long the run may take; 0: as long as the promise needs
	Wanted int64         // error in the rate that must be seen, in parts per million; 0: DefaultWanted
	Seed   uint64
	Same   []scenarios.Vary  // what makes no difference to the limit, as was declared
	Beside []scenarios.Limit // further ones that hold as well, on the same keys; each has a name
}

// DefaultWanted is the error in the rate that a check must be able to see: 1 %.
const DefaultWanted = 10_000

// design is a limit and its circumstances, as traps are fitted to them.
type design struct {
	limit scenarios.Limit
	size  int64 // that is admitted at once
	c     Circumstances
	token time.Duration // how long one takes; 0: there is no rate
	fill  time.Duration // how long a bucket takes
	most  time.Duration // that a follow-up may take; 0: it is none
	rng   *rand.Rand
}

func newDesign(l scenarios.Limit, c Circumstances) *design {
	if c.Wanted == 0 {
		c.Wanted = DefaultWanted
	}
	if c.RTT == 0 {
		c.RTT = time.Millisecond
	}
	return &design{limit: l, size: l.Size(), c: c, token: l.Token(), fill: l.Fill(), rng: rand.New(rand.NewPCG(c.Seed, 1))}
}

// others are the limits beside this one, as traps are fitted to them. What is asked
// of what tells clients apart is asked once.
func (d *design) others() (all []*design) {
	c := d.c
	c.Beside, c.Same = nil, nil
	for _, l := range d.c.Beside {
		o := newDesign(l, c)
		o.rng, o.c.Beside = d.rng, []scenarios.Limit{d.limit}
		all = append(all, o)
	}
	return all
}

// full is how long it takes until all limits have all that they can have.
func (d *design) full() time.Duration {
	longest := d.fill
	for _, l := range d.c.Beside {
		longest = max(longest, l.Fill())
	}
	return longest
}

// fit is a trap as it is fired at the limit.
func (d *design) fit(t Trap) track {
	f := t.phases(d)
	for _, p := range f.phases {
		if p.Keys.Of == "" {
			f.atOnce += p.Volley * p.Keys.Fresh
		}
		if p.Attack == scenarios.TacticBoundary {
			f.atOnce += d.drain() * p.Keys.Fresh
		}
	}
	return f
}

// price is what a track costs at most.
func (d *design) price(t track) (p Price) {
	keys := map[string]int{}
	for _, ph := range t.phases {
		n := ph.Keys.Fresh
		if ph.Keys.Of != "" {
			n = keys[ph.Keys.Of]
		}
		keys[ph.Name] = n
		each := ph.Volley + ph.Count
		each *= 1 + ph.Returns()
		p.Requests += n * each
		if ph.Attack != scenarios.TacticNone {
			for turn := range n {
				a := scenarios.Attack{Tactic: ph.Attack, Rounds: ph.Rounds, Turn: turn, Size: d.size, Token: d.token}
				p.Requests += a.Most()
			}
		}
	}
	p.Length = t.length
	return p
}

// drain is enough requests at once to empty a bucket, whatever refills meanwhile.
func (d *design) drain() int {
	b := d.size
	spread := 30*time.Millisecond + d.c.RTT + time.Duration(b/scenarios.VolleySize)*scenarios.VolleyPause
	return int(min(b+2+d.limit.Rate.Tokens(spread), 1_000_000))
}

// over is a volley that a bucket has to refuse a good part of.
func (d *design) over() int { return d.drain() + int(min(max(d.size, 3), 20)) }

// after is when a drain is over.
func (d *design) after() time.Duration {
	return time.Duration(d.drain()/scenarios.VolleySize)*scenarios.VolleyPause + 20*time.Millisecond + d.c.RTT
}

// share is how many keys a question is asked on: fewer when each costs much.
func (d *design) share(most int) int {
	switch {
	case d.size > 500:
		most = 1
	case d.size > 50:
		most = (most + 1) / 2
	}
	if d.c.Keys > 0 {
		most = min(most, d.c.Keys)
	}
	return most
}

// scale is t*num/den without overflow for what is sensible here.
func scale(t time.Duration, num, den int64) time.Duration {
	return time.Duration(float64(t) * float64(num) / float64(den))
}

// longer is the sum of two lengths, which saturates.
func longer(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
