package server

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"

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
	tables  *store.Tables // of states in this process; nil: they are elsewhere
	link    *store.Link   // the way there
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

// group makes a backing for each store that the limits name, and tells the limits
// in which they are.
func group(limits []*limit, log *slog.Logger) (all []*backing) {
	for _, l := range limits {
		m := orMemory(l.Store)
		i := slices.IndexFunc(all, func(b *backing) bool { return b.mode.String() == m.String() })
		if i < 0 {
			i = len(all)
			all = append(all, &backing{mode: m, log: log})
		}
		b := all[i]
		l.backing, l.index = b, len(b.limits)
		kept := l.parts.Stored(l.Name + "/" + l.Key.String())
		kept.Terms = l.terms()
		b.limits = append(b.limits, kept)
		b.instead = append(b.instead, l.instead)
	}
	return all
}

// acquire gets what the states of a store in this process are in, or finds out
// that it cannot be had.
func (b *backing) acquire(n *node) error {
	opened, err := newOpener(b.mode)
	if err != nil || !opened.local {
		return err
	}
	c := n.own
	if c == nil {
		c = n.server.shared
	}
	b.tables, err = c.get(b.mode.String(), opened.file)
	return err
}

// open opens the store for a node. Where it gives both a store and an error, the
// store works and what is written of it does not last.
func (b *backing) open(n *node) error {
	o, err := newOpener(b.mode)
	if err != nil {
		return err
	}
	b.link = n.link(b.mode)
	s, err := o.open(opening{limits: b.limits, fallback: b.instead, clock: n.clock, link: b.link, tables: b.tables, apart: n.apart()})
	if s == nil {
		return err
	}
	s = n.server.lags.join(s, b.mode, n)
	b.store = store.Betray(s, b.limits, n.clock)
	return err
}

func (b *backing) close() error {
	if b.store == nil {
		return nil
	}
	return b.store.Close()
}

// terms are all that the decisions of the limit depend on.
func (l Limit) terms() string {
	text := l.Algorithm.String()
	for _, d := range l.Defects {
		text += " " + d.String()
	}
	return text
}
