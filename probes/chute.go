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
	"strconv"
	"strings"
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
	streams   atomic.Bool // the server speaks HTTP/2: one connection carries all
}

// idleAfter is when an idle connection is closed: before a server does it,
// which node's does after 5 s, and a request on it would be lost.
const idleAfter = 4 * time.Second

func (g *Gun) newChute(source netip.Addr) *chute {
	l := &lines{to: g.to, port: portOf(g.url.Scheme, g.url.Port()), source: source, tls: g.tls(), ids: &g.ids}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) }
	transport := func(apart bool) *http.Transport {
		return &http.Transport{
			DialContext:         dial,
			DialTLSContext:      dial,
			ForceAttemptHTTP2:   true,
			DisableCompression:  true,
			DisableKeepAlives:   apart,
			MaxIdleConnsPerHost: 10_000,
			IdleConnTimeout:     idleAfter,
		}
	}
	return &chute{gun: g, lines: l, transport: transport(false), apart: transport(true)}
}

func (c *chute) close() {
	c.transport.CloseIdleConnections()
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

// request is one request of the target's template for a key, that asks for cost tokens.
func (c *chute) request(ctx context.Context, label string, cost int64) (*http.Request, error) {
	t := &c.gun.target
	u := *c.gun.url
	value := c.gun.value(label)
	if t.Key.Kind == scenarios.KeyQuery {
		q := u.Query()
		q.Set(t.Key.Name, value)
		u.RawQuery = q.Encode()
	}
	var body io.Reader
	if t.Request.Body != "" {
		body = strings.NewReader(t.Request.Body)
	}
	method := t.Request.Method
	if method == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "ratehammer")
	for _, h := range t.Request.Headers {
		if strings.EqualFold(h.Name, "Host") {
			r.Host = h.Value
			continue
		}
		r.Header.Set(h.Name, h.Value)
	}
	if t.Cost != "" {
		r.Header.Set(t.Cost, strconv.FormatInt(cost, 10))
	}
	switch t.Key.Kind {
	case scenarios.KeyHeader:
		r.Header.Set(t.Key.Name, value)
	case scenarios.KeyCookie:
		r.AddCookie(&http.Cookie{Name: t.Key.Name, Value: url.QueryEscape(value)})
	}
	return r, nil
}

// aimed is a request that is ready to leave.
type aimed struct {
	request *http.Request
	stamps  *stamps
	cancel  context.CancelFunc
	apart   bool // on a connection of its own
}

// aim makes everything that can be made before the request's moment.
func (c *chute) aim(ctx context.Context, clk clock, label string, cost int64) (aimed, error) {
	ctx, cancel := context.WithCancel(ctx)
	st := &stamps{}
	r, err := c.request(httptrace.WithClientTrace(ctx, st.trace(clk)), label, cost)
	if err != nil {
		cancel()
		return aimed{}, err
	}
	return aimed{request: r, stamps: st, cancel: cancel}, nil
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
	path := c.transport
	if a.apart {
		path = c.apart
	}
	res, err := path.RoundTrip(a.request)
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
		return "no answer in time"
	}
	return err.Error()
}
