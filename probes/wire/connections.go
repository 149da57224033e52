package wire

import (
	"fmt"
	"net/netip"
)

// What a loop does with connections: they are opened, wait to be used, and end.

// open begins to open a connection, if the place may have another one.
func (l *Loop) open(p *Place) {
	if p.Most > 0 && p.open >= p.Most {
		return
	}
	to := l.options.To()
	c := &conn{id: l.options.Number(), peer: l.peer(to), place: p, since: l.now()}
	p.open++
	p.opening++
	l.opening.push(c)
	if err := l.driver.open(c, to, p.From); err != nil {
		l.unopened(c, err)
	}
}

func (l *Loop) peer(to netip.AddrPort) string {
	text, ok := l.peers[to]
	if !ok {
		text = to.String()
		l.peers[to] = text
	}
	return text
}

// unopened ends a connection that could not be opened, and the first of those that wait
// for one with it.
func (l *Loop) unopened(c *conn, err error) {
	l.drop(c)
	if x := c.place.first; x != nil {
		l.end(x, fmt.Errorf("connecting to %s: %w", c.peer, err))
	}
	l.refill(c.place)
}

// opened is told that a connection is there.
func (l *Loop) opened(c *conn) {
	l.opening.drop(c)
	c.place.opening--
	c.state = busy // for a moment
	l.rest(c)
}

// rest gives a connection that is free to who waits for one.
func (l *Loop) rest(c *conn) {
	now := l.last
	for x := c.place.first; x != nil; x = c.place.first {
		if x.late(l.now()) {
			l.end(x, ErrLate)
			continue
		}
		c.place.leave(x)
		l.start(c, x)
		return
	}
	c.state, c.since, c.x = idle, now, nil
	l.idle.push(c)
	c.place.free = append(c.place.free, c)
	c.place.idle++
}

// lost ends a connection and the exchange on it, whose outcome nobody knows.
func (l *Loop) lost(c *conn, err error) {
	x := c.x
	l.drop(c)
	l.end(x, err)
	l.refill(c.place)
}

// refill opens a connection for who waits for one that is gone.
func (l *Loop) refill(p *Place) {
	if p.opening < p.waiting {
		l.open(p)
	}
}

// drop closes a connection.
func (l *Loop) drop(c *conn) {
	switch c.state {
	case closed:
		return
	case opening:
		l.opening.drop(c)
		c.place.opening--
	case idle:
		l.idle.drop(c)
		c.place.idle--
	}
	c.state, c.x = closed, nil
	c.place.open--
	l.driver.shut(c)
}
