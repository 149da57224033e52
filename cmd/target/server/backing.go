package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"

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

// orMemory is what a limit that names no store has.
func orMemory(m mode.Mode) mode.Mode {
	if m.IsZero() {
		return mode.Mode{Name: "memory"}
	}
	return m
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
		b.limits = append(b.limits, store.Limit{Algorithm: l.parts.Algorithm, Name: l.Name + "/" + l.Key.String(), Now: l.parts.Now})
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
