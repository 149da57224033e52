package server

import (
	"sync"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

// lags are what the nodes hear of each other, by the mode that names a store.
type lags struct {
	lag time.Duration // 0: they hear nothing
	now func() int64  // the machine's time, nanoseconds

	mu     sync.Mutex
	gossip map[string]*store.Gossip
}

// join lets a node's store tell the others of its kind what it has admitted, and
// hear of them.
func (l *lags) join(s store.Store, m mode.Mode, n *node) store.Store {
	if l.lag == 0 {
		return s
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gossip == nil {
		l.gossip = map[string]*store.Gossip{}
	}
	g := l.gossip[m.String()]
	if g == nil {
		g = store.NewGossip(l.lag, l.now)
		l.gossip[m.String()] = g
	}
	return g.Join(s, n.number)
}
