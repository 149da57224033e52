package server

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// maxNodes is more than show anything that three do not.
const maxNodes = 64

// NodeStores describes what several nodes know of each other.
func NodeStores() []mode.Doc {
	return []mode.Doc{
		{Name: "shared", Example: "shared", Text: "They share each store, as the instances of one service do. One in this process outlives restarts of its nodes, but not of the process."},
		{Name: "separate", Example: "separate", Text: "Each has its own, and so a budget of its own for each client; its memory is gone when it is restarted."},
		{Name: "lagging", Settings: "lag=DURATION", Example: "lagging{lag=500ms}", Text: "Each has its own and hears after the lag what the others have admitted, which it then charges as far as there is something left."},
	}
}

// nodeStore reads which of NodeStores is meant.
func (c Config) nodeStore() (name string, lag time.Duration, err error) {
	m := c.NodeStore
	if m.IsZero() {
		m.Name = "shared"
	}
	for _, d := range NodeStores() {
		if d.Name != m.Name {
			continue
		}
		r := m.Read(d.Example)
		if d.Name == "lagging" {
			lag = r.Duration("lag")
			r.Require(lag > 0 && lag <= time.Hour, "lag", "give a time above 0, at most 1h")
		}
		return d.Name, lag, r.Done()
	}
	return "", 0, mode.Unknown("node store", m.Name, NodeStores())
}

func (c Config) nodes() int { return max(1, c.Nodes) }

// sharesStore reports whether a store in this process belongs to no node.
func (c Config) sharesStore() bool {
	name, _, _ := c.nodeStore()
	return c.nodes() > 1 && name == "shared"
}

// checkNodes says what is wrong with what concerns the nodes, or nil.
func (c Config) checkNodes() error {
	var faults []error
	if c.Nodes < 0 || c.Nodes > maxNodes {
		faults = append(faults, fmt.Errorf("%d nodes: give 1 to %d", c.Nodes, maxNodes))
	}
	if name, _, err := c.nodeStore(); err != nil {
		faults = append(faults, err)
	} else if name == "lagging" {
		for _, l := range c.Limits {
			if l.Algorithm.Name == "concurrency" {
				faults = append(faults, fmt.Errorf("limit %s: what is under way on one node is nothing that others can hear of; give the node store shared or separate", l.name()))
			}
		}
	}
	if !c.Front.IsZero() {
		if _, err := readFront(c.Front); err != nil {
			faults = append(faults, err)
		}
	}
	_, unix := c.Listeners[0].socket()
	switch n := len(c.Listeners); {
	case c.nodes() == 1 || n == c.nodes():
	case n != 1:
		faults = append(faults, fmt.Errorf("%d nodes and %d addresses: give one, and the nodes after the first take the ports after it, or one for each", c.nodes(), n))
	case unix:
		faults = append(faults, fmt.Errorf("%d nodes on one socket: give an address for each", c.nodes()))
	}
	for _, e := range c.Clock {
		if e.Node > c.nodes() {
			faults = append(faults, fmt.Errorf("clock %v: there is no node %d", e.Event, e.Node))
		}
	}
	for i := range c.nodes() {
		if err := clock.New(time.Unix(0, 0), func() int64 { return 0 }).Schedule(c.eventsOf(i + 1)); err != nil {
			faults = append(faults, fmt.Errorf("clock %w", err))
			break
		}
	}
	return errors.Join(faults...)
}

// eventsOf are those that a node's clock is set.
func (c Config) eventsOf(number int) (all []clock.Event) {
	for _, e := range c.Clock {
		if e.Node == 0 || e.Node == number {
			all = append(all, e.Event)
		}
	}
	return all
}

// nodeListeners are the listeners of each node.
func (c Config) nodeListeners() (all [][]Listener) {
	if c.nodes() == 1 {
		return [][]Listener{slices.Clone(c.Listeners)} // addresses are filled in
	}
	for i := range c.nodes() {
		if len(c.Listeners) > 1 {
			all = append(all, []Listener{c.Listeners[i]})
			continue
		}
		l := c.Listeners[0]
		l.Name, l.Address = l.name(), later(l.address(), i)
		all = append(all, []Listener{l})
	}
	return all
}

// later is the address with a port so many later; 0 stays a free one.
func later(address string, ports int) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	n, err := strconv.Atoi(port)
	if err != nil || n == 0 {
		return address
	}
	return net.JoinHostPort(host, strconv.Itoa(n+ports))
}

// nodeName is what files of a node end in.
func (c Config) nodeName(number int) string {
	if c.nodes() == 1 {
		return ""
	}
	return fmt.Sprintf(".node-%d", number)
}

// addressOf is an address that was taken, as it is to be taken again.
func addressOf(a net.Addr) string {
	if a.Network() == "unix" {
		return "unix:" + a.String()
	}
	return cmp.Or(a.String(), "127.0.0.1:0")
}
