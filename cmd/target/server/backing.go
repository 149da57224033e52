package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

// backing is a store with the limits whose states it holds. Limits that name the
// same store share it, so that one request can ask several of them at once.
type backing struct {
	mode    mode.Mode
	limits  []store.Limit
	instead []store.Limit // of the same index: what is kept to where the store is down and one in this process answers
	store   store.Store
	log     *slog.Logger
	trouble atomic.Bool // whether it could not be asked the last time
}

// heard tells the log when the store gets into trouble and when it is out of it
// again, and not at every request in between. A request that has ended by itself
// says nothing of the store.
func (b *backing) heard(err error) {
	switch {
	case errors.Is(err, context.Canceled):
	case err != nil && !b.trouble.Swap(true):
		b.log.Warn("the store cannot be asked", "store", b.mode, "err", err)
	case err == nil && b.trouble.Load() && b.trouble.Swap(false):
		b.log.Info("the store can be asked again", "store", b.mode)
	}
}

// storeKind is one sort of store that can be named.
type storeKind struct {
	mode.Doc
	build func(r *mode.Reader) (opener, error)
}

// opener opens a store for these limits. fallback are those that a store in this
// process would keep to in its place.
type opener func(limits, fallback []store.Limit, c *clock.Clock) (store.Store, error)

func storeKinds() []storeKind {
	return []storeKind{memoryKind(), redisKind()}
}

// Stores describes where the states of keys can be.
func Stores() []mode.Doc {
	var docs []mode.Doc
	for _, k := range storeKinds() {
		docs = append(docs, k.Doc)
	}
	return docs
}

// orMemory is what a limit that names no store has.
func orMemory(m mode.Mode) mode.Mode {
	if m.IsZero() {
		return mode.Mode{Name: "memory"}
	}
	return m
}

func newOpener(m mode.Mode) (opener, error) {
	m = orMemory(m)
	for _, k := range storeKinds() {
		if k.Name == m.Name {
			return k.build(m.Read(k.Example))
		}
	}
	return nil, mode.Unknown("store", m.Name, Stores())
}

// CheckStore says what is wrong with the settings of a store, or nil. Whether it
// can be reached is not tried.
func CheckStore(m mode.Mode) error {
	_, err := newOpener(m)
	return err
}

func memoryKind() storeKind {
	return storeKind{
		Doc: mode.Doc{Name: "memory", Example: "memory", Text: "In this process; a key that is as if it had never been used is forgotten."},
		build: func(r *mode.Reader) (opener, error) {
			open := func(limits, _ []store.Limit, c *clock.Clock) (store.Store, error) {
				return store.NewMemory(limits, c), nil
			}
			return open, r.Done()
		},
	}
}

func redisKind() storeKind {
	return storeKind{
		Doc: mode.Doc{
			Name:     "redis",
			Settings: "address=HOST:PORT,prefix=TEXT,timeout=DURATION,down=none|open|closed|local,lease=DURATION",
			Example:  "redis{address=127.0.0.1:6379,prefix=ratehammer:,timeout=1s,down=none,lease=1m}",
			Text:     "In a Redis, on its clock, by one script. While it is down, or takes longer than timeout: none answers 503, open admits, closed refuses with 503, local asks a store in this process with limits of its own (--fallback). lease is how long a place of a concurrency limit is held at most. The example shows the defaults.",
		},
		build: buildRedis,
	}
}

func buildRedis(r *mode.Reader) (opener, error) {
	o := store.RedisOptions{
		Address: r.TextOr("address", "127.0.0.1:6379"),
		Prefix:  r.TextOr("prefix", "ratehammer:"),
		Timeout: r.DurationOr("timeout", time.Second),
		Lease:   r.DurationOr("lease", time.Minute),
	}
	word := r.Choice("down", "none", "none", "open", "closed", "local")
	_, _, err := net.SplitHostPort(o.Address)
	r.Require(err == nil, "address", "write HOST:PORT")
	r.Require(o.Timeout >= time.Millisecond && o.Timeout <= time.Minute, "timeout", "give 1ms to 1m")
	r.Require(o.Lease >= time.Second && o.Lease <= 24*time.Hour, "lease", "give 1s to 24h")
	if err := r.Done(); err != nil {
		return nil, err
	}
	policy, err := store.ParsePolicy(word)
	if err != nil {
		return nil, err
	}
	return func(limits, fallback []store.Limit, c *clock.Clock) (store.Store, error) {
		s, err := store.NewRedis(o, limits, c)
		if err != nil {
			return nil, err
		}
		var local store.Store
		if policy == store.Local {
			local = store.NewMemory(fallback, c)
		}
		return store.Guard(s, policy, o.Timeout, local, c)
	}, nil
}

// openStores opens one store for each that the limits name, and tells the limits
// where they are.
func openStores(limits []*limit, c *clock.Clock, log *slog.Logger) (all []*backing, err error) {
	for _, l := range limits {
		m := orMemory(l.Store)
		i := slices.IndexFunc(all, func(b *backing) bool { return b.mode.String() == m.String() })
		if i < 0 {
			i = len(all)
			all = append(all, &backing{mode: m, log: log})
		}
		b := all[i]
		l.backing, l.index = b, len(b.limits)
		b.limits = append(b.limits, store.Limit{Algorithm: l.parts.Algorithm, Now: l.parts.Now})
		b.instead = append(b.instead, l.instead)
	}
	for _, b := range all {
		open, err := newOpener(b.mode)
		if err == nil {
			b.store, err = open(b.limits, b.instead, c)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("store %w", err), closeStores(all))
		}
	}
	return all, nil
}

func closeStores(all []*backing) error {
	var errs []error
	for _, b := range all {
		if b.store != nil {
			errs = append(errs, b.store.Close())
		}
	}
	return errors.Join(errs...)
}
