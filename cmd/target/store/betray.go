package store

import (
	"context"
	"slices"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
)

// betraying is a store that does something else than it is said to while it
// cannot decide: what the limits that are asked have as Down.
type betraying struct {
	Store
	limits []Limit
	clock  *clock.Clock
}

// Betray gives s itself, or if a limit has another Down than what is declared, a
// store that obeys it. It stands around what Guard gives, and takes both for an
// outage: that s cannot decide, and that something else has decided in its place.
func Betray(s Store, limits []Limit, c *clock.Clock) Store {
	if !slices.ContainsFunc(limits, func(l Limit) bool { return l.Down != None }) {
		return s
	}
	return &betraying{Store: s, limits: limits, clock: c}
}

func (b *betraying) Decide(ctx context.Context, asks []Ask, settle func(*Answer)) error {
	if err := check(asks, len(b.limits)); err != nil {
		return err
	}
	policy := None
	for _, a := range asks {
		policy = max(policy, b.limits[a.Limit].Down)
	}
	if policy == None || settle == nil {
		return b.Store.Decide(ctx, asks, settle)
	}
	from := b.clock.Read()
	err := b.Store.Decide(ctx, asks, func(a *Answer) {
		if a.Policy == None {
			settle(a)
			return
		}
		held := slices.Clone(asks) // by the local store, to be given back
		settle(instead(policy, asks, a.Cause, from, a.At))
		for i := range asks {
			asks[i].Lease = held[i].Lease
		}
	})
	if !outage(err) || ctx.Err() != nil {
		return err
	}
	settle(instead(policy, asks, err, from, b.clock.Read()))
	return nil
}
