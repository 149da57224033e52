package limiter

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// SlidingCounter counts in fixed windows of length W, and estimates what the
// last W held as if the previous window's admissions were spread evenly: with a
// share x of the window passed, prev*(1-x) + cur. A key takes 24 bytes.
//
// In integers, with e = x*W: a request is admitted if
//
//	prev*(W-e) + (cur+cost)*W <= N*W
//
// so a unit is the W-th part of a token. With AtMost the estimate with the
// request has to be N at most; with Below, as many limiters have it, the one
// without it has to be below N, and part of a token more passes. A request of
// cost c is then decided as c requests of one token.
//
// In a closed window of length T it admits at most N + N*T/W tokens, and with
// Below one more: the estimate never falls faster than N per W, and what is
// admitted in the window is at most what the estimate was let up to, less what
// it was, and what it fell by in between. So up to 2N-1 pass within less than one
// W: some at the end of a window, and most of N again at the end of the next.
type SlidingCounter struct {
	promise scenarios.Limit
	grid    Grid
	test    Test
	full    int64 // units that the estimate may come to with the request
}

// Test is how an estimate is compared with the limit.
type Test string

// The tests.
const (
	AtMost Test = "le" // the estimate with the request is at most the limit
	Below  Test = "lt" // the estimate without the request is below the limit
)

// Counter is the state of one key: 24 bytes.
type Counter struct {
	Start int64 // nanoseconds: where the current window begins, the latest that was seen
	Prev  int64 // tokens admitted in the window before it
	Cur   int64 // tokens admitted in it
}

// Clone is a copy.
func (k *Counter) Clone() State {
	c := *k
	return &c
}

func slidingCounter() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "sliding-counter",
			Settings: "rate=TOKENS/WINDOW,test=le|lt,align=epoch|start",
			Example:  "sliding-counter{rate=10/10s,test=le}",
			Text:     "Estimates the last window from the counts of this one and the one before; at most tokens + tokens*T/window pass in any time T, with test=lt one more.",
		},
		build: func(r *mode.Reader) (Algorithm, error) {
			rate, test, align := r.Rate("rate"), r.Choice("test", string(AtMost), string(AtMost), string(Below)), readAlign(r, Epoch, Start)
			if err := r.Done(); err != nil {
				return nil, err
			}
			return made(NewSlidingCounter(rate, Test(test), align))
		},
	}
}

// NewSlidingCounter admits about rate.Count tokens in any rate.Per. It returns an
// error if the rate is no limit, or if two windows hold more than MaxLevel units.
func NewSlidingCounter(rate scenarios.Rate, test Test, align Align) (*SlidingCounter, error) {
	p, grid, err := window(scenarios.SlidingCounter, rate, align)
	if err != nil {
		return nil, err
	}
	if hi, most := bits.Mul64(uint64(2*rate.Count+2), uint64(rate.Per)); hi > 0 || most > MaxLevel {
		return nil, fmt.Errorf("sliding-counter: %d in windows of %v cannot be estimated exactly in 64 bits; give a smaller count or a shorter window", rate.Count, rate.Per)
	}
	c := &SlidingCounter{promise: p, grid: grid, test: test, full: rate.Count * int64(rate.Per)}
	if test == Below { // est < N is est + 1 <= N + 1, but for the last unit
		c.full += int64(rate.Per) - 1
	}
	return c, nil
}

// Promise is the tokens and the window as the rate.
func (c *SlidingCounter) Promise() scenarios.Limit { return c.promise }

// Grid is where the windows are.
func (c *SlidingCounter) Grid() Grid { return c.grid }

// Test is how the estimate is compared.
func (c *SlidingCounter) Test() Test { return c.test }

// Start is the algorithm of a server that was started at now.
func (c *SlidingCounter) Start(now int64) Algorithm {
	s := *c
	s.grid = c.grid.started(now)
	return &s
}

// Fresh has admitted nothing.
func (c *SlidingCounter) Fresh(now int64) State { return &Counter{Start: c.grid.Floor(now)} }

// Decide estimates, and admits what there is room for.
func (c *SlidingCounter) Decide(s State, now, cost int64) (d Decision, err error) {
	most := c.promise.Rate.Count
	if cost < 1 || cost > most {
		return d, &CostError{Cost: cost, Most: most}
	}
	k := s.(*Counter)
	now = c.roll(k, now)
	before := c.room(k, now)
	after := before
	if d.Admitted = before >= cost*c.grid.Period; d.Admitted {
		k.Cur += cost
		after -= cost * c.grid.Period
	} else {
		d.Wait = c.wait(k, now, cost)
	}
	c.tell(&d, before, after, k, now)
	return d, nil
}

// View estimates.
func (c *SlidingCounter) View(s State, now int64) (d Decision) {
	k := *s.(*Counter)
	now = c.roll(&k, now)
	room := c.room(&k, now)
	c.tell(&d, room, room, &k, now)
	return d
}

// tell fills in the figures of a key that had so much room before, and has now.
func (c *SlidingCounter) tell(d *Decision, before, after int64, k *Counter, now int64) {
	d.Before, d.After, d.Unit, d.Limit = before, after, c.grid.Period, c.promise.Rate.Count
	// Only a clock that has gone back makes room negative.
	d.Remaining = max(0, after/c.grid.Period)
	switch end := k.Start + c.grid.Period; {
	case k.Cur > 0: // it counts until the end of the next window
		d.Reset = time.Duration(end + c.grid.Period - now)
	case k.Prev > 0:
		d.Reset = time.Duration(end - now)
	}
}

// room is what may still be admitted, in units.
func (c *SlidingCounter) room(k *Counter, now int64) int64 {
	return c.full - k.Prev*(k.Start+c.grid.Period-now) - k.Cur*c.grid.Period
}

// wait is until there is room for the cost. It comes in this window if what the
// previous one still counts falls far enough, else in the next one, where the
// current count is the previous one: there is room for the cost at its end at
// the latest.
func (c *SlidingCounter) wait(k *Counter, now, cost int64) time.Duration {
	w := c.grid.Period
	end := k.Start + w
	if left := c.full - (k.Cur+cost)*w; left >= 0 {
		return time.Duration(end - left/k.Prev - now)
	}
	left := c.full - cost*w
	return time.Duration(end + w - min(w, left/k.Cur) - now)
}

// roll goes on to the window of now. A now in an earlier window is taken for the
// start of the latest that was seen.
func (c *SlidingCounter) roll(k *Counter, now int64) int64 {
	if c.grid.holds(k.Start, now) {
		return now
	}
	switch start := c.grid.Floor(now); {
	case start <= k.Start:
		return max(now, k.Start)
	case start == k.Start+c.grid.Period:
		*k = Counter{Start: start, Prev: k.Cur}
	default:
		*k = Counter{Start: start}
	}
	return now
}

// Forgettable reports whether neither window has admitted anything, and none was
// seen later.
func (c *SlidingCounter) Forgettable(s State, now int64) bool {
	k := *s.(*Counter)
	if now < k.Start {
		return false
	}
	c.roll(&k, now)
	return k.Prev == 0 && k.Cur == 0
}
