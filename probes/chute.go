package probes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// chute is the full path over net/http for one source address.
type chute struct {
	gun       *Gun
	lines     *lines
	transport *http.Transport
	apart     *http.Transport // uses no connection twice
	flying    atomic.Int32
	oneByOne  atomic.Bool // the server speaks no HTTP/2, as was seen when a volley was to leave over it
	streams   atomic.Bool // the server speaks HTTP/2: one connection carries all

	make   func(dial dial) *http.Transport // that opens its connections so
	single func() *http.Transport          // that has one connection
	owning sync.Mutex
	owned  map[place]*http.Transport
}

// idleAfter is when an idle connection is closed: before a server does it,
// which node's does after 5 s, and a request on it would be lost.
const idleAfter = 4 * time.Second

func (g *Gun) newChute(source netip.Addr) *chute {
	l := &lines{to: g.to, port: portOf(g.url.Scheme, g.url.Port()), source: source, tls: g.tls(), ids: &g.ids}
	over := func(dial dial) *http.Transport {
		t := &http.Transport{
			DialContext:         dial,
			DialTLSContext:      dial,
			ForceAttemptHTTP2:   true,
			DisableCompression:  true,
			MaxIdleConnsPerHost: 10_000,
			IdleConnTimeout:     idleAfter,
		}
		if g.target.Path == PathH2C {
			t.Protocols = &http.Protocols{}
			t.Protocols.SetUnencryptedHTTP2(true)
		}
		return t
	}
	any := func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) }
	c := &chute{gun: g, lines: l, make: over, transport: over(any), apart: over(any), owned: map[place]*http.Transport{},
		single: func() *http.Transport {
			t := over(any)
			t.MaxConnsPerHost = 1
			return t
		}}
	c.apart.DisableKeepAlives = true
	c.streams.Store(g.target.Path == PathH2C)
	return c
}

// dial opens a connection, wherever it is asked for one to.
type dial = func(ctx context.Context, network, address string) (net.Conn, error)

// place is one of the connections that a key has to itself.
type place struct {
	key string
	n   int
}

// own is the path over the n-th of a key's own connections.
func (c *chute) own(key string, n int) *http.Transport {
	c.owning.Lock()
	defer c.owning.Unlock()
	t := c.owned[place{key, n}]
	if t == nil {
		t = c.single()
		c.owned[place{key, n}] = t
	}
	return t
}

func (c *chute) close() {
	c.transport.CloseIdleConnections()
	c.owning.Lock()
	defer c.owning.Unlock()
	for _, t := range c.owned {
		t.CloseIdleConnections()
	}
	c.lines.drop()
}

// ready opens connections until n are idle.
func (c *chute) ready(ctx context.Context, n int) {
	if c.streams.Load() {
		return
	}
	if missing := n - int(c.lines.open.Load()-c.flying.Load()); missing > 0 {
		c.lines.prepare(ctx, missing)
	}
}

// aimed is a request that is ready to leave.
type aimed struct {
	request *http.Request
	stamps  *stamps
	cancel  context.CancelFunc
	path    http.RoundTripper // that it takes
}

// aim makes everything that can be made before the request's moment.
func (c *chute) aim(ctx context.Context, clk clock, ask scenarios.Ask) (aimed, error) {
	ctx, cancel := context.WithCancel(ctx)
	st := &stamps{}
	r, err := c.request(httptrace.WithClientTrace(ctx, st.trace(clk)), ask)
	if err != nil {
		cancel()
		return aimed{}, err
	}
	a := aimed{request: r, stamps: st, cancel: cancel, path: c.transport}
	if n := ask.Line(); n > 0 {
		a.path = c.own(ask.Key, n)
	}
	return a, nil
}

// fire sends a request and records it in h. The header is nil where no answer came.
func (c *chute) fire(a aimed, clk clock, h *results.Hit) http.Header {
	limit := time.AfterFunc(c.gun.target.Timeout, a.cancel)
	defer limit.Stop()
	defer a.cancel()
	c.flying.Add(1)
	defer c.flying.Add(-1)
	h.First = results.Never
	left := clk.now()
	res, err := a.path.RoundTrip(a.request)
	if err != nil {
		a.stamps.fill(h, left)
		h.Done, h.Err = clk.now(), plainError(err)
		return nil
	}
	headed := clk.now()
	_, readErr := io.Copy(io.Discard, res.Body)
	res.Body.Close()
	a.stamps.fill(h, left)
	h.First = a.stamps.answered(headed)
	h.Done = clk.now()
	c.streams.Store(res.ProtoMajor == 2)
	c.gun.Read(h, res)
	if readErr != nil {
		h.Err = fmt.Sprintf("reading the body: %v", readErr)
	}
	if n := a.stamps.sends.Load(); n > 1 {
		h.Outcome, h.Err = results.Unknown, fmt.Sprintf("sent %d times by the transport", n)
	}
	return res.Header
}

// plainError is what went wrong, without the URL that net/http puts in front.
func plainError(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if errors.Is(err, context.Canceled) {
		return results.NoAnswer
	}
	return err.Error()
}
