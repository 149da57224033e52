package wire

// state is what a connection is doing.
type state uint8

const (
	opening state = iota
	idle
	busy // an exchange is on it
	closed
)

// conn is one connection.
type conn struct {
	line  line // the driver's
	id    int32
	peer  string
	place *Place
	state state
	since int64 // when it became what it is
	used  bool  // it has carried a request
	x     *Exchange
	rest  []byte // of the request, what could not be written yet
	first int64  // when the first byte of what is being read came; Never: none has
	answer

	next, prev *conn // among those that are opening, or idle, in the order of since
}

// chain is connections in the order in which they were put in.
type chain struct{ first, last *conn }

func (l *chain) push(c *conn) {
	c.prev, c.next = l.last, nil
	if l.last == nil {
		l.first = c
	} else {
		l.last.next = c
	}
	l.last = c
}

func (l *chain) drop(c *conn) {
	if c.prev == nil {
		l.first = c.next
	} else {
		c.prev.next = c.next
	}
	if c.next == nil {
		l.last = c.prev
	} else {
		c.next.prev = c.prev
	}
	c.prev, c.next = nil, nil
}
