package probes

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// lines opens connections: when the transport asks for one, or beforehand, so
// that a volley need not wait for handshakes.
type lines struct {
	to     *addresses
	port   string
	source netip.Addr  // address to connect from; invalid: the system's choice
	tls    *tls.Config // nil: plain
	ids    *atomic.Int32

	open  atomic.Int32 // connections that are open
	mu    sync.Mutex
	spare []net.Conn // opened and not yet used
}

// line is one connection.
type line struct {
	net.Conn
	id   int32
	peer string
	once sync.Once
	gone func()
	kept kept
}

func (l *line) Close() error {
	l.once.Do(l.gone)
	return l.Conn.Close()
}

// lineOf is the line under a connection as the transport knows it.
func lineOf(c net.Conn) *line {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	l, _ := c.(*line)
	return l
}

// dial hands out a spare connection, or opens one.
func (l *lines) dial(ctx context.Context) (net.Conn, error) {
	l.mu.Lock()
	if n := len(l.spare); n > 0 {
		c := l.spare[n-1]
		l.spare = l.spare[:n-1]
		l.mu.Unlock()
		return c, nil
	}
	l.mu.Unlock()
	return l.connect(ctx)
}

func (l *lines) connect(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{Timeout: 5 * time.Second}
	if l.source.IsValid() {
		d.LocalAddr = &net.TCPAddr{IP: l.source.AsSlice()}
	}
	addr := net.JoinHostPort(l.to.next().String(), l.port)
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	l.open.Add(1)
	made := &line{Conn: c, id: l.ids.Add(1), peer: addr, gone: func() { l.open.Add(-1) }}
	if l.tls == nil {
		return made, nil
	}
	t := tls.Client(made, l.tls)
	if err := t.HandshakeContext(ctx); err != nil {
		made.Close()
		return nil, err
	}
	return t, nil
}

// prepare opens n connections more. What cannot be opened is opened later, by
// the request that wants it.
func (l *lines) prepare(ctx context.Context, n int) {
	const atOnce = 32
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for range n {
		wg.Add(1)
		slots <- struct{}{}
		go func() {
			defer wg.Done()
			defer func() { <-slots }()
			c, err := l.connect(ctx)
			if err != nil {
				return
			}
			l.mu.Lock()
			l.spare = append(l.spare, c)
			l.mu.Unlock()
		}()
	}
	wg.Wait()
}

// drop closes the spare connections: an idle one may be closed by the server
// at any moment, and a request on it would be lost.
func (l *lines) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.spare {
		c.Close()
	}
	l.spare = nil
}

// portOf is the port that a URL's host connects to.
func portOf(scheme, port string) string {
	switch {
	case port != "":
		return port
	case scheme == "https":
		return strconv.Itoa(443)
	}
	return strconv.Itoa(80)
}
