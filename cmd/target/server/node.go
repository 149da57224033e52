package server

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

// node is one of the servers that stand behind a promise, with a clock and
// addresses of its own. It lives from one start to the next, and its life is
// exchanged by a reload.
type node struct {
	server    *Server
	number    int // from 1
	clock     *clock.Clock
	doors     *doors // of all nodes
	room      *room
	listeners []Listener  // of which the addresses do not change once they are taken
	serving   sync.Mutex  // of public
	public    []*endpoint // one for each listener; nil: it is down
	serves    bool        // on addresses, and again after each restart; false: in virtual time

	now  atomic.Pointer[life]
	past *life        // the life before the last reload, whose requests may be under way; nil: there was none
	born atomic.Int64 // when it was started last: nanoseconds, Since1970 of its clock
	own  *cellar      // of what it does not share; nil: it shares all

	linking sync.Mutex
	links   map[string]*store.Link // by the mode of the store
}

// life is what a node does until it is reloaded or restarted.
type life struct {
	node     *node
	limits   []*limit
	backings []*backing
	routes   []*route
	routers  map[string]*router // by listener
}

func (n *node) life() *life { return n.now.Load() }

// begin lets the node live by a Config, from what its stores still have of an
// earlier life.
func (n *node) begin(cfg Config) error {
	n.born.Store(n.clock.Read().Since1970())
	if n.server.shared == nil {
		n.own = newCellar(cfg.nodeName(n.number), cfg.Log)
	}
	l, err := n.prepare(cfg)
	if err == nil {
		err = l.acquire()
	}
	if err == nil {
		err = l.openStores()
	}
	if err != nil {
		return errors.Join(err, l.closeStores())
	}
	n.now.Store(l)
	return nil
}

// end closes what the node has open, but for its addresses.
func (n *node) end() error {
	if l := n.now.Load(); l != nil {
		return errors.Join(l.closeStores(), n.own.close())
	}
	return n.own.close()
}

// prepare builds a life but for its stores, and tells which limits will be in which.
func (n *node) prepare(cfg Config) (*life, error) {
	l := &life{node: n, routers: map[string]*router{}}
	for _, one := range cfg.Limits {
		built, err := one.build(n.clock, cfg.Seed, n.since, n.came(one))
		if err != nil {
			return l, err
		}
		l.limits = append(l.limits, built)
	}
	l.backings = group(l.limits, cfg.Log)
	return l, l.buildRoutes(cfg)
}

// came is when a limit came: at the start, or with the reload that has changed it
// last. Its clock is the machine's, and runs on over restarts.
func (n *node) came(l Limit) int64 {
	before := n.life()
	if before == nil {
		return 0
	}
	for _, old := range before.limits {
		if old.Name == l.name() && old.Key.String() == l.Key.String() && old.terms() == l.terms() {
			return old.parts.Came
		}
	}
	return n.clock.Read().Mono
}

// since is when the oldest process began that has been there without a break, of
// those that keep the states of this node.
func (n *node) since() int64 {
	if n.server.shared == nil {
		return n.born.Load()
	}
	oldest := n.born.Load()
	for _, other := range n.server.nodes {
		oldest = min(oldest, other.born.Load())
	}
	return oldest
}

// apart tells the states of this node from those of others in one place; empty:
// they are the same.
func (n *node) apart() string {
	if n.server.shared != nil || len(n.server.nodes) == 1 {
		return ""
	}
	return fmt.Sprintf("node-%d:", n.number)
}

// told is the number of the node where there are several, else 0.
func (n *node) told() int {
	if len(n.server.nodes) == 1 {
		return 0
	}
	return n.number
}

// link is the way to the store of that mode, which stays as it is over reloads and
// restarts.
func (n *node) link(m mode.Mode) *store.Link {
	n.linking.Lock()
	defer n.linking.Unlock()
	if n.links == nil {
		n.links = map[string]*store.Link{}
	}
	l := n.links[m.String()]
	if l == nil {
		l = &store.Link{}
		n.links[m.String()] = l
	}
	return l
}

// serve answers to what comes to the addresses.
func (n *node) serve(taken []net.Listener) error {
	errorLog := quietLog(n.server.cfg.Log)
	var all []*endpoint
	for i, l := range n.listeners {
		// It comes back to the address that it gets first.
		if l.Name, l.Address = l.name(), addressOf(taken[i].Addr()); l != n.listeners[i] {
			n.listeners[i] = l
		}
		e, err := run(l, n.doors.guard(taken[i]), n.handler(l.name()), requestTimeout, answerTimeout, errorLog, n.server.certificate)
		if err != nil {
			closeListeners(taken[i:])
			return errors.Join(err, closeAll(all, 0))
		}
		all = append(all, e)
	}
	n.serving.Lock()
	defer n.serving.Unlock()
	n.public, n.serves = all, true
	return nil
}

// endpoints are where the node serves; nil while it is down.
func (n *node) endpoints() []*endpoint {
	n.serving.Lock()
	defer n.serving.Unlock()
	return n.public
}

// leave gives up the addresses: requests under way get so much time, and are cut
// off then.
func (n *node) leave(grace time.Duration) error {
	n.serving.Lock()
	all := n.public
	n.public = nil
	n.serving.Unlock()
	return closeAll(all, grace)
}
