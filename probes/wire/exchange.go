package wire

import (
	"errors"
	"math"
	"net/netip"
)

// Never is a moment that does not come.
const Never = math.MaxInt64

// The reasons for which an exchange ends without an answer, beside what the system says.
var (
	ErrMalformed = errors.New("malformed answer")
	ErrTimeout   = errors.New("no answer in time")
	ErrCut       = errors.New("the server closed the connection before its answer was complete")
	ErrGivenUp   = errors.New("given up: the run was over")
	ErrLate      = errors.New("no connection in time")
	ErrHeld      = errors.New("the connection was lost before the request was released")
)

// Exchange is one request and what comes of it. Who sends it fills the first part; the
// loop fills the second, and has no more to do with it when it has shown it as ended.
type Exchange struct {
	Request []byte // all of it
	Place   *Place // what it is sent from
	Head    bool   // the method is HEAD
	Keep    int    // of Request, bytes that are sent at once where the rest is kept back until Release; 0: nothing is
	Latest  int64  // moment from which on it is not sent any more; 0: it is sent however late
	Of      any    // the owner's

	Sent     int64     // before the first byte could leave, or what was kept back
	First    int64     // after the first byte of the answer had come, of an informational one not; Never: no answer
	Done     int64     // after the last byte, or when it was given up
	Conn     int32     // number of the connection; 0: none was had
	Peer     string    // address that was connected to
	Fresh    bool      // it was the connection's first
	Unsent   bool      // nothing left that could be decided: it was missed, and Err says why
	Interim  bool      // an informational answer came before
	Err      error     // nil: the answer is complete
	begun    int64     // when it was handed over
	c        *conn     // that it is on; nil: it waits for one
	held     bool      // what is to be kept back is kept back
	released bool      // it was released before it had a connection
	queued   bool      // it waits for a connection
	next     *Exchange // of those in flight, in the order of begun, or of those that have ended
	prev     *Exchange
	waits    *Exchange // behind it in the queue of its place
	waited   *Exchange // in front of it
}

// begin clears what an exchange before has left.
func (x *Exchange) begin(now int64) {
	*x = Exchange{Request: x.Request, Place: x.Place, Head: x.Head, Keep: x.Keep, Latest: x.Latest, Of: x.Of, begun: now, Sent: now, First: Never}
}

// late reports whether an exchange is not to be sent any more.
func (x *Exchange) late(now int64) bool { return x.Latest != 0 && now > x.Latest }

// Place is where requests are sent from: a set of connections that they may share. The
// zero Place has any number of them, from an address of the system's choice.
type Place struct {
	From netip.Addr // source address; invalid: the system's choice
	Most int        // connections at once; 0: any number
	Once bool       // no connection is used twice

	free    []*conn // idle, the last one that became so at the end; closed ones are left in
	idle    int     // of free, those that are not closed
	opening int     // connections that are not there yet
	open    int     // connections that are there or opening
	first   *Exchange
	last    *Exchange // of those that wait for a connection
	waiting int
}

// queue puts an exchange behind those that wait.
func (p *Place) queue(x *Exchange) {
	x.queued, x.waited, x.waits = true, p.last, nil
	if p.last == nil {
		p.first = x
	} else {
		p.last.waits = x
	}
	p.last = x
	p.waiting++
}

// leave takes an exchange out of the queue, wherever in it it stands.
func (p *Place) leave(x *Exchange) {
	if x.waited == nil {
		p.first = x.waits
	} else {
		x.waited.waits = x.waits
	}
	if x.waits == nil {
		p.last = x.waited
	} else {
		x.waits.waited = x.waited
	}
	x.queued, x.waits, x.waited = false, nil, nil
	p.waiting--
}

// take takes the connection that was used last; nil: none is idle.
func (p *Place) take() *conn {
	for n := len(p.free); n > 0; n = len(p.free) {
		c := p.free[n-1]
		p.free[n-1] = nil
		p.free = p.free[:n-1]
		if c.state == idle {
			p.idle--
			return c
		}
	}
	return nil
}

// list is exchanges in flight, in the order in which they were handed over.
type list struct {
	first, last *Exchange
	n           int
}

func (l *list) push(x *Exchange) {
	x.prev, x.next = l.last, nil
	if l.last == nil {
		l.first = x
	} else {
		l.last.next = x
	}
	l.last = x
	l.n++
}

func (l *list) drop(x *Exchange) {
	if x.prev == nil {
		l.first = x.next
	} else {
		x.prev.next = x.next
	}
	if x.next == nil {
		l.last = x.prev
	} else {
		x.next.prev = x.prev
	}
	x.prev, x.next = nil, nil
	l.n--
}
