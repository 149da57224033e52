package server

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// doors bound how many connections are open, on all listeners together. When all
// are taken and another comes, the one that has shown no whole request for the
// longest time is closed: clients that open connections and send slowly, or
// nothing, take the places of each other and not of those who ask something.
type doors struct {
	most int
	came atomic.Uint64 // visitors ever
	mu   sync.Mutex
	in   map[*visitor]struct{}
}

func newDoors(most int) *doors { return &doors{most: most, in: map[*visitor]struct{}{}} }

// visitor is one open connection.
type visitor struct {
	net.Conn
	doors *doors
	turn  uint64       // how many came before it
	busy  atomic.Int32 // requests that are being answered
	since atomic.Int64 // nanoseconds, time.Now: when it came, or when its last answer was given
}

// guard lets in by the doors who comes to ln.
func (d *doors) guard(ln net.Listener) net.Listener { return guarded{ln, d} }

type guarded struct {
	net.Listener
	doors *doors
}

func (g guarded) Accept() (net.Conn, error) {
	conn, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return g.doors.admit(conn), nil
}

func (d *doors) admit(conn net.Conn) net.Conn {
	v := &visitor{Conn: conn, doors: d, turn: d.came.Add(1) - 1}
	v.since.Store(time.Now().UnixNano())
	d.mu.Lock()
	var out *visitor
	if len(d.in) >= d.most {
		out = d.longest()
	}
	if out == nil && len(d.in) >= d.most {
		out = v // all others are being answered
	} else {
		d.in[v] = struct{}{}
	}
	d.mu.Unlock()
	if out != nil {
		out.Close()
	}
	return v
}

// longest is the visitor that has been waited for longest, or nil.
func (d *doors) longest() (found *visitor) {
	for v := range d.in {
		if v.busy.Load() == 0 && (found == nil || v.since.Load() < found.since.Load()) {
			found = v
		}
	}
	return found
}

// open is how many connections are open.
func (d *doors) open() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.in)
}

// Close leaves.
func (v *visitor) Close() error {
	v.doors.mu.Lock()
	delete(v.doors.in, v)
	v.doors.mu.Unlock()
	return v.Conn.Close()
}

// begin and end enclose the answering of one request whose header is there, and
// awaits and begin the reading of its body. They may be called on nil, which is no
// visitor.
func (v *visitor) begin() {
	if v != nil {
		v.busy.Add(1)
	}
}

// awaits leaves the moment alone since which nothing whole was shown.
func (v *visitor) awaits() {
	if v != nil {
		v.busy.Add(-1)
	}
}

func (v *visitor) end() {
	if v != nil {
		v.since.Store(time.Now().UnixNano())
		v.busy.Add(-1)
	}
}

type visitorKey struct{}

// rememberVisitor makes the visitor known to the requests of its connection.
func rememberVisitor(ctx context.Context, conn net.Conn) context.Context {
	if wrapped, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = wrapped.NetConn()
	}
	if v, ok := conn.(*visitor); ok {
		return context.WithValue(ctx, visitorKey{}, v)
	}
	return ctx
}

func visitorOf(ctx context.Context) *visitor {
	v, _ := ctx.Value(visitorKey{}).(*visitor)
	return v
}
