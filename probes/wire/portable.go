package wire

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"
)

// portable is the driver of all systems: connections of net.Conn, each with a goroutine
// that reads. The loop itself writes, as long as what it writes fits into the system's
// buffer, which a request on a connection without another one does.
type portable struct {
	now    func() int64
	notes  chan note
	gone   chan struct{}
	timer  *time.Timer
	events []event
	going  sync.WaitGroup // goroutines of connections
	shown  []*pipe        // whose bytes were shown: they may read on
	margin int64          // before a moment from which on it polls, in nanoseconds
}

// pipe is a connection and the goroutine that reads from it.
type pipe struct {
	conn   net.Conn
	err    error // for which it could not be opened, or written to
	stop   context.CancelFunc
	buffer []byte
	on     chan struct{} // is told that the bytes in the buffer were taken

	come    []byte // bytes that have come and were not taken; the loop's
	ended   error  // behind them; the loop's
	writing int    // bytes that a goroutine writes; the loop's
	written int    // that it has written; the loop's
}

// note is what a connection's goroutines tell the loop.
type note struct {
	c       *conn
	at      int64
	conn    net.Conn // it was opened
	n       int      // so many bytes have come
	ended   error    // nothing more comes
	written bool     // a long request is written
	err     error    // opening or writing failed
}

const (
	// So much every system takes at once on a connection on which nothing is under way.
	atOnce         = 4096
	portableMargin = int64(time.Millisecond)
	portableMost   = int64(2 * time.Millisecond)
)

func newPortable(o Options) *portable {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &portable{now: o.Now, notes: make(chan note, 1024), gone: make(chan struct{}), timer: t, margin: portableMargin}
}

func (d *portable) name() string { return "net.Conn" }
func (d *portable) begin()       {}

func (d *portable) close() {
	close(d.gone)
	d.going.Wait()
}

// tell hands a note to the loop, and is false where there is none any more.
func (d *portable) tell(n note) bool {
	select {
	case d.notes <- n:
		return true
	case <-d.gone:
		return false
	}
}

func (d *portable) open(c *conn, to netip.AddrPort, from netip.Addr) error {
	ctx, stop := context.WithCancel(context.Background())
	p := &pipe{stop: stop, on: make(chan struct{}, 1)}
	c.line.pipe = p
	dialer := net.Dialer{}
	if from.IsValid() {
		dialer.LocalAddr = &net.TCPAddr{IP: from.AsSlice()}
	}
	d.going.Go(func() {
		made, err := dialer.DialContext(ctx, "tcp", to.String())
		if !d.tell(note{c: c, at: d.now(), conn: made, err: err}) && made != nil {
			made.Close()
		}
	})
	return nil
}

// reader reads from a connection. It goes on when what it has read was taken.
func (d *portable) reader(ctx context.Context, c *conn, p *pipe) {
	for {
		n, err := p.conn.Read(p.buffer)
		if !d.tell(note{c: c, at: d.now(), n: n, ended: err}) || err != nil {
			return
		}
		select {
		case <-p.on:
		case <-ctx.Done():
			return
		}
	}
}

func (d *portable) opened(c *conn) error { return c.line.pipe.err }

func (d *portable) write(c *conn, b []byte) (int, error) {
	p := c.line.pipe
	switch {
	case p.err != nil:
		return 0, p.err
	case p.written > 0:
		n := p.written
		p.written = 0
		return n, nil
	case p.writing > 0:
		return 0, nil
	case len(b) <= atOnce:
		return p.conn.Write(b)
	}
	p.writing = len(b)
	d.going.Go(func() {
		_, err := p.conn.Write(b)
		d.tell(note{c: c, at: d.now(), written: true, err: err})
	})
	return 0, nil
}

func (d *portable) read(c *conn) (b []byte, more bool, err error) {
	p := c.line.pipe
	if len(p.come) > 0 {
		b, p.come = p.come, nil
		return b, true, nil
	}
	return nil, false, p.ended
}

func (d *portable) shut(c *conn) {
	p := c.line.pipe
	p.stop()
	if p.conn != nil {
		p.conn.Close()
	}
}

func (d *portable) wait(until int64, _ bool) []event {
	for _, p := range d.shown {
		select {
		case p.on <- struct{}{}:
		default:
		}
	}
	d.shown, d.events = d.shown[:0], d.events[:0]
	if d.drain(); len(d.events) > 0 {
		return d.events
	}
	now := d.now()
	left := until - now - d.margin
	if left <= 0 {
		return nil
	}
	d.timer.Reset(time.Duration(left))
	select {
	case n := <-d.notes:
		d.timer.Stop()
		d.take(n)
		d.drain()
	case <-d.timer.C:
		d.margin = min(max(2*(d.now()-now-left), d.margin*31/32, leastPortable), portableMost)
	}
	return d.events
}

const leastPortable = int64(100 * time.Microsecond)

// drain takes all notes that are there.
func (d *portable) drain() {
	for len(d.events) < cap(d.notes) {
		select {
		case n := <-d.notes:
			d.take(n)
		default:
			return
		}
	}
}

// take makes an event of a note.
func (d *portable) take(n note) {
	c := n.c
	p := c.line.pipe
	if c.state == closed {
		if n.conn != nil {
			n.conn.Close()
		}
		return
	}
	e := event{c: c, at: n.at}
	switch {
	case n.err != nil:
		p.err = n.err
		e.writable, e.readable = true, c.state != opening
		p.ended = n.err
	case n.conn != nil:
		p.conn, p.buffer = n.conn, make([]byte, 16<<10)
		p.stop()
		ctx, stop := context.WithCancel(context.Background())
		p.stop = stop
		d.going.Go(func() { d.reader(ctx, c, p) })
		e.writable = true
	case n.written:
		p.written, p.writing = p.writing, 0
		e.writable = true
	default:
		p.come, p.ended = p.buffer[:n.n], n.ended
		e.readable, e.last = true, n.ended != nil
		d.shown = append(d.shown, p)
	}
	d.events = append(d.events, e)
}
