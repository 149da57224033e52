package wire

import (
	"io"
	"net/netip"
)

// errEOF is what a driver says where the other side has ended a connection.
var errEOF = io.EOF

// driver moves bytes for one loop. None of its methods waits, but for wait.
type driver interface {
	name() string
	begin() // is called on the loop's thread before all others
	// open begins to open a connection; an event tells that it is there, or that opened
	// has an error to tell.
	open(c *conn, to netip.AddrPort, from netip.Addr) error
	opened(c *conn) error
	// write writes what can be written at once; an event tells when there is room for more.
	write(c *conn, p []byte) (int, error)
	// read gives what has come, which is valid until the next call; nothing where nothing
	// has. more is whether there may be more.
	read(c *conn) (p []byte, more bool, err error)
	shut(c *conn)
	// wait waits until a moment at most for something to happen; near is whether an answer
	// is expected. The events are valid until the next call.
	wait(until int64, near bool) []event
	close()
}

// line is what a driver keeps of a connection.
type line struct {
	fd   int   // its socket
	slot int32 // in the driver's table
	pipe *pipe // of the portable driver
}

// event is something that has happened on a connection.
type event struct {
	c        *conn
	at       int64 // a moment at which it had happened
	readable bool
	writable bool // or opened, or failed to
	last     bool // the other side sends nothing behind what has come
}
