package wire

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Owner says what a loop is to do, and hears of it. All of it is called on the loop's own
// thread, so that none of it may wait.
type Owner interface {
	// Due does what is due, and says when there is more to do: Never where nothing is
	// planned. A loop with nothing planned and nothing in flight ends.
	Due(now int64) (next int64)
	// Headed shows the head of an answer that is not an informational one. The body may be
	// still to come.
	Headed(x *Exchange, h *Head)
	// Ended shows an exchange that is over.
	Ended(x *Exchange)
}

// Options are what a loop needs to know. All but Timeout are needed.
type Options struct {
	Now      func() int64          // the clock of all moments, in nanoseconds; never falls
	To       func() netip.AddrPort // where the next connection goes
	Number   func() int32          // the number of the next connection, from 1
	Timeout  time.Duration         // after which an exchange is given up; 0: none is
	Portable bool                  // the loop over net.Conn, also where there is another one
}

// idleAfter is when an idle connection is closed: before a server does it, which node's
// does after 5 s, and a request on it would be lost.
const idleAfter = int64(4 * time.Second)

// openFor is how long a connection may take to open.
const openFor = int64(5 * time.Second)

// longest is how long a loop waits at most without asking its owner what is due.
const longest = int64(20 * time.Millisecond)

// Loop owns connections and what is on them. Its methods are for the goroutine that runs
// it, and for its owner.
type Loop struct {
	options Options
	driver  driver
	owner   Owner
	memo    memo
	flying  list
	over    *Exchange // that have ended and were not shown yet, the last one first
	opening chain
	idle    chain
	peers   map[netip.AddrPort]string
	headed  func(*Head)
	last    int64 // what the clock said last
	reading *conn // whose head is shown
}

// New makes a loop.
func New(o Options) (*Loop, error) {
	l := &Loop{options: o, peers: map[netip.AddrPort]string{}}
	var err error
	if l.driver, err = newDriver(o); err != nil {
		return nil, fmt.Errorf("setting up the loop: %w", err)
	}
	l.headed = l.show
	return l, nil
}

// now reads the clock.
func (l *Loop) now() int64 {
	l.last = l.options.Now()
	return l.last
}

// Name is how a loop waits: epoll, or net.Conn.
func (l *Loop) Name() string { return l.driver.name() }

// Oldest is a moment before which nothing was handed over that was not shown as ended yet:
// what is shown later was sent then or later.
func (l *Loop) Oldest() int64 {
	at := l.now()
	if l.flying.first != nil {
		at = l.flying.first.begun
	}
	for x := l.over; x != nil; x = x.next {
		at = min(at, x.begun)
	}
	return at
}

// InFlight is how many exchanges have not ended.
func (l *Loop) InFlight() int { return l.flying.n }

// Run does what the owner says until nothing is planned and nothing in flight. The
// goroutine that calls it should end with it: it is left locked to its thread.
func (l *Loop) Run(o Owner) {
	l.owner = o
	l.driver.begin()
	for {
		now := l.now()
		l.expire(now)
		l.tell()
		next := o.Due(now)
		l.tell()
		if l.flying.n == 0 && next == Never {
			return
		}
		if l.over != nil {
			continue
		}
		for _, e := range l.driver.wait(min(next, l.alarm(), now+longest), l.flying.n > 0) {
			l.hear(e)
		}
		l.tell()
	}
}

// Close closes all connections.
func (l *Loop) Close() {
	for c := l.idle.first; c != nil; c = l.idle.first {
		l.drop(c)
	}
	for c := l.opening.first; c != nil; c = l.opening.first {
		l.drop(c)
	}
	l.driver.close()
}

// alarm is when something of the loop's own may have to be done.
func (l *Loop) alarm() int64 {
	at := int64(Never)
	if x := l.flying.first; x != nil && l.options.Timeout > 0 {
		at = x.begun + int64(l.options.Timeout)
	}
	if c := l.idle.first; c != nil {
		at = min(at, c.since+idleAfter)
	}
	if c := l.opening.first; c != nil {
		at = min(at, c.since+openFor)
	}
	return at
}

// expire ends what has taken too long.
func (l *Loop) expire(now int64) {
	for c := l.idle.first; c != nil && now-c.since >= idleAfter; c = l.idle.first {
		l.drop(c)
	}
	for c := l.opening.first; c != nil && now-c.since >= openFor; c = l.opening.first {
		l.unopened(c, ErrTimeout)
	}
	if l.options.Timeout == 0 {
		return
	}
	for x := l.flying.first; x != nil && now-x.begun >= int64(l.options.Timeout); x = l.flying.first {
		l.abandon(x, ErrTimeout)
	}
}

// tell shows the owner what has ended. It is not shown at once, since what the owner
// then sends may end at once as well.
func (l *Loop) tell() {
	for l.over != nil {
		var x *Exchange // in the order in which they ended
		for l.over != nil {
			o := l.over
			l.over, o.next = o.next, x
			x = o
		}
		for x != nil {
			o := x
			x, o.next = o.next, nil
			l.owner.Ended(o)
		}
	}
}

// Send sends a request: at once where a connection is idle, else when there is one.
func (l *Loop) Send(x *Exchange) {
	x.begin(l.last)
	l.flying.push(x)
	p := x.Place
	if c := p.take(); c != nil {
		l.idle.drop(c)
		l.start(c, x)
		return
	}
	p.queue(x)
	if p.opening < p.waiting {
		l.open(p)
	}
}

// Ready opens connections until so many are idle, or on their way to be.
func (l *Loop) Ready(p *Place, n int) {
	for n -= p.idle + p.opening - p.waiting; n > 0; n-- {
		l.open(p)
	}
}

// Spare opens connections ahead of a stall: where answers take so long that requests
// overlap, there is a connection for the next one, and for a quarter more than are under
// way, up to mostSpare.
func (l *Loop) Spare(p *Place) {
	if busy := p.open - p.idle - p.opening; busy > 1 {
		l.Ready(p, min(busy/4+1, mostSpare))
	}
}

const mostSpare = 32

// Release lets go of what is kept back of a request. One that has no connection yet is
// sent whole when it has one.
func (l *Loop) Release(x *Exchange) {
	x.released = true
	if !x.held {
		return
	}
	x.held = false
	c := x.c
	x.Sent = l.now()
	if len(c.rest) > 0 { // not even the first part could be written
		c.rest = x.Request[x.Keep-len(c.rest):]
		return
	}
	l.write(c, x.Request[x.Keep:])
}

// GiveUp ends an exchange for another reason than its own.
func (l *Loop) GiveUp(x *Exchange) { l.abandon(x, ErrGivenUp) }

// GiveAllUp ends all that is in flight.
func (l *Loop) GiveAllUp() {
	for l.flying.first != nil {
		l.abandon(l.flying.first, ErrGivenUp)
	}
}

// start sends a request on a connection that is free.
func (l *Loop) start(c *conn, x *Exchange) {
	c.state, c.x, c.first = busy, x, Never
	c.answer.begin(x.Head)
	x.c, x.Conn, x.Peer, x.Fresh = c, c.id, c.peer, !c.used
	c.used = true
	if x.Keep > 0 && !x.released {
		x.held = true
		l.write(c, x.Request[:x.Keep])
		return
	}
	x.Sent = l.now()
	l.write(c, x.Request)
}

// write writes what the system takes; the rest is written when it takes more.
func (l *Loop) write(c *conn, p []byte) {
	n, err := l.driver.write(c, p)
	if err != nil {
		l.lost(c, err)
		return
	}
	c.rest = p[n:]
}

// hear is told of what has happened on a connection.
func (l *Loop) hear(e event) {
	c := e.c
	switch c.state {
	case closed:
	case opening:
		if err := l.driver.opened(c); err != nil {
			l.unopened(c, err)
			return
		}
		if e.writable {
			l.opened(c)
		}
	case idle: // nothing is asked, so that it can only have ended
		if e.readable {
			l.drop(c)
		}
	case busy:
		if e.writable && len(c.rest) > 0 {
			l.write(c, c.rest)
		}
		if e.readable && c.state == busy {
			l.read(c, e)
		}
	}
}

// read reads what has come on a connection.
func (l *Loop) read(c *conn, e event) {
	for {
		p, more, err := l.driver.read(c)
		switch {
		case err != nil:
			l.cut(c, err)
			return
		case len(p) == 0:
			return
		case c.x.held: // an answer to what is not asked yet
			l.lost(c, ErrHeld)
			return
		}
		if c.first == Never {
			if c.first = e.at; e.at < c.x.Sent { // the event is older than the request
				c.first = l.now()
			}
		}
		l.reading = c
		done, over, err := c.feed(p, &l.memo, l.headed)
		switch {
		case err != nil:
			l.lost(c, err)
			return
		case done:
			l.answered(c, len(over) > 0 || e.last)
			return
		case !more:
			return
		}
	}
}

// show shows a head to the owner. An informational answer is no decision, so where there
// was one the answer counts from when its head was complete.
func (l *Loop) show(h *Head) {
	c := l.reading
	x := c.x
	switch {
	case h.interim():
		x.Interim = true
		return
	case x.Interim:
		x.First = l.now()
	default:
		x.First = c.first
	}
	l.owner.Headed(x, h)
}

// answered ends an exchange whose answer is complete. closing is whether the connection
// is of no use any more.
func (l *Loop) answered(c *conn, closing bool) {
	x := c.x
	c.x = nil
	l.end(x, nil)
	if closing || c.close || c.place.Once || len(c.rest) > 0 {
		l.drop(c)
		l.refill(c.place)
		return
	}
	l.rest(c)
}

// cut is told that a connection has ended.
func (l *Loop) cut(c *conn, err error) {
	if errors.Is(err, errEOF) {
		if c.ended() {
			l.answered(c, true)
			return
		}
		err = ErrCut
	}
	l.lost(c, err)
}

// abandon ends an exchange that has no answer, and its connection.
func (l *Loop) abandon(x *Exchange, err error) {
	if c := x.c; c != nil {
		l.lost(c, err)
		return
	}
	l.end(x, err)
}

// end ends an exchange. One that had no connection in time is missed; one for which none
// could be opened has failed, unless it was to be kept back.
func (l *Loop) end(x *Exchange, err error) {
	x.c, x.Done = nil, l.now()
	if x.queued {
		x.Place.leave(x)
		if x.late(x.Done) || err == ErrTimeout {
			err = ErrLate
		}
		x.Unsent = err == ErrLate || err == ErrGivenUp || x.Keep > 0 && !x.released
	}
	if x.held {
		x.Unsent, x.held = true, false
		err = ErrHeld
	}
	x.Err = err
	l.flying.drop(x)
	x.next = l.over
	l.over = x
}
