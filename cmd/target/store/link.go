package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
)

// ErrCut says that there is no way to the store.
var ErrCut = errors.New("the way to the store is cut")

// Link is the way from a server to its store, which can be cut, made slow and
// restored while it is in use. The zero Link is whole.
type Link struct {
	cut   atomic.Bool
	delay atomic.Int64 // nanoseconds that each question takes longer

	mu    sync.Mutex
	conns map[*wire]struct{} // to stores elsewhere
}

// Cut ends all connections and lets none through.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut.Store(true)
	for w := range l.conns {
		w.Conn.Close()
	}
	clear(l.conns)
}

// Delay makes each question take so much longer on its way to the store. One that
// would come later than it is waited for is lost on the way.
func (l *Link) Delay(by time.Duration) { l.delay.Store(int64(by)) }

// Restore makes the link whole again.
func (l *Link) Restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut.Store(false)
	l.delay.Store(0)
}

// State is what is wrong with the link.
func (l *Link) State() (cut bool, delay time.Duration) {
	return l.cut.Load(), time.Duration(l.delay.Load())
}

// Before puts the link before a store in this process. A question is waited for
// as long as limit says; 0: for as long as it takes.
func (l *Link) Before(s Store, limit time.Duration) Store { return linked{s, l, limit} }

type linked struct {
	Store
	link  *Link
	limit time.Duration
}

func (l linked) Decide(ctx context.Context, asks []Ask, settle func(*Answer)) error {
	if err := l.link.pass(ctx, l.limit); err != nil {
		return err
	}
	return l.Store.Decide(ctx, asks, settle)
}

// pass takes as long as the way does, and gives the error of one that does not
// lead there.
func (l *Link) pass(ctx context.Context, limit time.Duration) error {
	if l.cut.Load() {
		return ErrCut
	}
	d := time.Duration(l.delay.Load())
	if d == 0 {
		return nil
	}
	late := limit > 0 && d >= limit
	if late {
		d = limit
	}
	clock.Sleep(ctx, d)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case late:
		return fmt.Errorf("the store has not answered within %v: %w", limit, context.DeadlineExceeded)
	case l.cut.Load():
		return ErrCut
	}
	return nil
}

// Dial connects to a store elsewhere, over the link.
func (l *Link) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if l.cut.Load() {
		return nil, ErrCut
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return l.take(conn)
}

func (l *Link) take(conn net.Conn) (net.Conn, error) {
	c := &wire{Conn: conn, link: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut.Load() {
		conn.Close()
		return nil, ErrCut
	}
	if l.conns == nil {
		l.conns = map[*wire]struct{}{}
	}
	l.conns[c] = struct{}{}
	return c, nil
}

// wire is a connection over a link. What is written waits for the delay, or as
// long as it may take: then it is not sent at all.
type wire struct {
	net.Conn
	link     *Link
	deadline atomic.Pointer[time.Time] // of writing; nil: none
}

func (w *wire) Write(b []byte) (int, error) {
	if d := time.Duration(w.link.delay.Load()); d > 0 {
		left := d
		if t := w.deadline.Load(); t != nil && !t.IsZero() {
			left = min(d, time.Until(*t))
		}
		time.Sleep(left)
		if left < d {
			return 0, os.ErrDeadlineExceeded
		}
	}
	return w.Conn.Write(b)
}

func (w *wire) SetDeadline(t time.Time) error {
	w.deadline.Store(&t)
	return w.Conn.SetDeadline(t)
}

func (w *wire) SetWriteDeadline(t time.Time) error {
	w.deadline.Store(&t)
	return w.Conn.SetWriteDeadline(t)
}

// Close ends the connection.
func (w *wire) Close() error {
	w.link.mu.Lock()
	delete(w.link.conns, w)
	w.link.mu.Unlock()
	return w.Conn.Close()
}
