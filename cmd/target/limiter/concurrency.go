package limiter

import (
	"fmt"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Concurrency admits a request if with it no more than burst tokens are in use,
// and the tokens are free again when the request is done. It does not look at
// the time: how many pass in a window is not bounded, at any moment at most
// burst are under way. A key takes 8 bytes.
type Concurrency struct{ promise scenarios.Limit }

// Busy is the state of one key: 8 bytes.
type Busy struct {
	Tokens int64 // of requests under way
}

// Clone is a copy.
func (k *Busy) Clone() State {
	c := *k
	return &c
}

func concurrency() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "concurrency",
			Settings: "burst=TOKENS",
			Example:  "concurrency{burst=10}",
			Text:     "At most burst requests are served at the same time; how many pass in a time is not limited.",
		},
		build: func(r *mode.Reader) (Algorithm, error) {
			burst := r.Int("burst")
			if err := r.Done(); err != nil {
				return nil, err
			}
			return made(NewConcurrency(burst))
		},
	}
}

// NewConcurrency admits what is at most burst at a time. It returns an error if
// that is no limit.
func NewConcurrency(burst int64) (*Concurrency, error) {
	p := scenarios.Limit{Contract: scenarios.Concurrency, Burst: burst}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("concurrency: %w", err)
	}
	return &Concurrency{promise: p}, nil
}

// Promise is the burst.
func (c *Concurrency) Promise() scenarios.Limit { return c.promise }

// Fresh has nothing under way.
func (c *Concurrency) Fresh(int64) State { return &Busy{} }

// Decide takes cost tokens if they are free. When some will be is not known.
func (c *Concurrency) Decide(s State, now, cost int64) (d Decision, err error) {
	if cost < 1 || cost > c.promise.Burst {
		return d, &CostError{Cost: cost, Most: c.promise.Burst}
	}
	k := s.(*Busy)
	before := k.Tokens
	if d.Admitted = before <= c.promise.Burst-cost; d.Admitted {
		k.Tokens += cost
	} else {
		d.Wait = Unknown
	}
	c.tell(&d, before, k.Tokens)
	return d, nil
}

// View tells what is free.
func (c *Concurrency) View(s State, _ int64) (d Decision) {
	k := s.(*Busy)
	c.tell(&d, k.Tokens, k.Tokens)
	return d
}

// tell fills in the figures of a key of which so many tokens were in use before,
// and are now.
func (c *Concurrency) tell(d *Decision, before, after int64) {
	b := c.promise.Burst
	d.Before, d.After, d.Unit, d.Limit = b-before, b-after, 1, b
	d.Remaining = max(0, d.After) // more are under way where the burst was lowered meanwhile
	if after > 0 {
		d.Reset = Unknown
	}
}

// Release frees the tokens of a request that is done.
func (c *Concurrency) Release(s State, _, cost int64) {
	k := s.(*Busy)
	k.Tokens = max(0, k.Tokens-cost)
}

// Forgettable reports whether nothing is under way.
func (c *Concurrency) Forgettable(s State, _ int64) bool { return s.(*Busy).Tokens == 0 }
