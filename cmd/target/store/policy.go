package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// Policy is what answers when a store cannot decide.
type Policy uint8

// The policies.
const (
	None   Policy = iota // there is none: a store that is down is an error
	Open                 // everything is admitted
	Closed               // everything is refused
	Local                // a store in this process decides, with limits of its own
)

// String is the word that people choose the policy by.
func (p Policy) String() string {
	switch p {
	case Open:
		return "open"
	case Closed:
		return "closed"
	case Local:
		return "local"
	default:
		return "none"
	}
}

// ParsePolicy reads such a word.
func ParsePolicy(word string) (Policy, error) {
	for _, p := range []Policy{None, Open, Closed, Local} {
		if p.String() == word {
			return p, nil
		}
	}
	return None, fmt.Errorf("policy %q is not known: write none, open, closed or local", word)
}

// guarded is a store that may fail, with what is done then.
type guarded struct {
	Store
	policy Policy
	limit  time.Duration
	local  Store
	clock  *clock.Clock
}

// Guard gives a store that asks s, and answers by the policy where s cannot
// decide or takes longer than limit; with None it gives the error. c tells the
// moment of such an answer. local decides for the policy Local; it needs as many
// limits as s, and is closed with it. Without it, or without a limit of time,
// Guard returns an error.
//
// Where the policy answers the Answer says so, with the Cause. A request that s
// was asked for in vain may have been charged there all the same.
func Guard(s Store, p Policy, limit time.Duration, local Store, c *clock.Clock) (Store, error) {
	switch {
	case limit <= 0:
		return nil, fmt.Errorf("store with the policy %v: a time limit of %v: give how long a decision may take, such as 50ms", p, limit)
	case (p == Local) != (local != nil):
		return nil, fmt.Errorf("store with the policy %v: a local store goes with the policy local, and only with that", p)
	}
	return &guarded{Store: s, policy: p, limit: limit, local: local, clock: c}, nil
}

func (g *guarded) Decide(ctx context.Context, asks []Ask, settle func(*Answer)) error {
	from := g.clock.Read()
	limited, cancel := context.WithTimeout(ctx, g.limit)
	defer cancel()
	err := g.Store.Decide(limited, asks, settle)
	switch {
	case g.policy == None || !outage(err):
		return err
	case ctx.Err() != nil: // nobody waits for the answer any more
		return err
	case g.policy == Local:
		return g.decideHere(ctx, asks, err, settle)
	}
	a := instead(g.policy, asks, err, from, g.clock.Read())
	if settle != nil {
		settle(a)
	}
	return nil
}

// outage reports whether an error says that a store cannot decide, and not that a
// request makes no sense or that it has to be asked elsewhere.
func outage(err error) bool {
	return err != nil && !errors.As(err, new(*limiter.CostError)) && !errors.As(err, new(*limiter.FaultError)) &&
		!errors.Is(err, ErrAsks) && !errors.Is(err, ErrMoved)
}

// instead is the answer of the policy Open, or any other, where nothing has been
// decided.
func instead(p Policy, asks []Ask, cause error, from, at clock.Instant) *Answer {
	a := &Answer{Admitted: p == Open, Refused: -1, Policy: p, Cause: cause, From: from, At: at}
	for i := range asks {
		asks[i].Lease = 0
		a.Decisions = append(a.Decisions, unfounded(a.Admitted))
	}
	if !a.Admitted {
		a.Refused = 0
	}
	return a
}

// unfounded is a decision that rests on nothing. A token is one unit, and none
// is told of.
func unfounded(admitted bool) limiter.Decision {
	d := limiter.Decision{Admitted: admitted, Unit: 1}
	if !admitted {
		d.Wait, d.Reset = limiter.Unknown, limiter.Unknown
	}
	return d
}

// decideHere asks the local store. Its leases are told from those of the other
// by their sign.
func (g *guarded) decideHere(ctx context.Context, asks []Ask, cause error, settle func(*Answer)) error {
	return g.local.Decide(ctx, asks, func(a *Answer) {
		a.Policy, a.Cause = Local, cause
		for i := range asks {
			asks[i].Lease = -asks[i].Lease
		}
		if settle != nil {
			settle(a)
		}
	})
}

// Release gives back where it was taken. What the policy Open has admitted holds
// nothing.
func (g *guarded) Release(ctx context.Context, asks []Ask) error {
	var here, there []Ask
	for _, a := range asks {
		switch {
		case a.Lease < 0:
			a.Lease = -a.Lease
			here = append(here, a)
		case a.Lease > 0:
			there = append(there, a)
		}
	}
	limited, cancel := context.WithTimeout(ctx, g.limit)
	defer cancel()
	return errors.Join(release(limited, g.Store, there), release(ctx, g.local, here))
}

func release(ctx context.Context, s Store, asks []Ask) error {
	if len(asks) == 0 {
		return nil
	}
	return s.Release(ctx, asks)
}

// Close closes the local store too.
func (g *guarded) Close() error {
	if g.local == nil {
		return g.Store.Close()
	}
	return errors.Join(g.Store.Close(), g.local.Close())
}
