package probes

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/ratehammer/ratehammer/scenarios"
)

// request is one request of the target's template, as a client asks.
func (c *chute) request(ctx context.Context, a scenarios.Ask) (*http.Request, error) {
	g := c.gun
	t, v := &g.target, a.Vary
	text := ""
	if !v.None() {
		text = g.text(a)
	}
	u := *g.url
	query := u.Query()
	if t.Key.Kind == scenarios.KeyQuery {
		query.Set(t.Key.Name, g.value(a))
		u.RawQuery = query.Encode()
	}
	switch v.Part {
	case scenarios.PartQuery:
		query.Set(v.Name, text)
		u.RawQuery = query.Encode()
	case scenarios.PartPath:
		if err := walk(&u, text); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, g.method(v, text), u.String(), g.body(a, text))
	if err != nil {
		return nil, err
	}
	r.URL = &u // as it is spelt
	r.Header.Set("User-Agent", "ratehammer")
	for _, h := range t.Request.Headers {
		setHeader(r, h.Name, h.Value)
	}
	if t.Cost != "" {
		r.Header.Set(t.Cost, strconv.FormatInt(a.Cost, 10))
	}
	if t.CostBody != "" && r.Header.Get("Content-Type") == "" {
		r.Header.Set("Content-Type", "application/json")
	}
	switch t.Key.Kind {
	case scenarios.KeyHeader:
		r.Header.Set(t.Key.Name, g.value(a))
	case scenarios.KeyCookie:
		r.AddCookie(&http.Cookie{Name: t.Key.Name, Value: url.QueryEscape(g.value(a))})
	}
	switch v.Part {
	case scenarios.PartHeader:
		setHeader(r, v.Name, text)
	case scenarios.PartCookie:
		r.AddCookie(&http.Cookie{Name: v.Name, Value: url.QueryEscape(text)})
	}
	return r, nil
}

func setHeader(r *http.Request, name, value string) {
	if strings.EqualFold(name, "Host") {
		r.Host = value
		return
	}
	r.Header.Set(name, value)
}

// text is what is varied, with what stands for clients in place.
func (g *Gun) text(a scenarios.Ask) string {
	text := a.Vary.Text(a.Turn)
	if strings.Contains(text, "{key}") {
		text = strings.ReplaceAll(text, "{key}", g.known(a.Key, true))
	}
	if a.Other != "" {
		text = strings.ReplaceAll(text, "{other}", g.known(a.Other, false))
	}
	return text
}

// known is what a client is told apart by, as it reads; relayed: with what the
// proxies behind the first one write.
func (g *Gun) known(label string, relayed bool) string {
	if g.target.Key.Kind == scenarios.KeyIP {
		from, err := g.source(label)
		if err != nil || !from.IsValid() {
			return "127.0.0.1"
		}
		return from.String()
	}
	if relayed {
		return g.value(scenarios.Ask{Key: label})
	}
	return g.client(scenarios.Ask{Key: label})
}

// walk puts another path into a URL, in the very letters that it is given in.
func walk(u *url.URL, text string) error {
	path, query, has := strings.Cut(text, "?")
	plain, err := url.PathUnescape(path)
	if err != nil {
		return fmt.Errorf("path %q: %w", text, err)
	}
	if u.Path, u.RawPath = plain, path; has {
		u.RawQuery = query
	}
	return nil
}

// method is that of a request: of an array of operations POST, unless it was said.
func (g *Gun) method(v scenarios.Vary, text string) string {
	switch {
	case v.Part == scenarios.PartMethod:
		return text
	case g.target.Request.Method != "":
		return g.target.Request.Method
	case g.target.CostBody != "":
		return http.MethodPost
	}
	return http.MethodGet
}

// body is that of a request. Where it tells the cost, it is an array of so many
// of the template's bodies.
func (g *Gun) body(a scenarios.Ask, text string) io.Reader {
	body := g.target.Request.Body
	if a.Vary.Part == scenarios.PartBody {
		body = text
	}
	switch {
	case g.target.CostBody == "" && body == "":
		return nil
	case g.target.CostBody == "" || a.Vary.Part == scenarios.PartBody:
		return strings.NewReader(body)
	case body == "":
		body = "{}"
	}
	return strings.NewReader("[" + strings.Repeat(body+",", int(a.Cost-1)) + body + "]")
}

// value is what stands for a client in a header, parameter or cookie: in a header
// into which proxies write, its address and those of the proxies behind the first.
func (g *Gun) value(a scenarios.Ask) string {
	value := g.client(a)
	for n := range g.target.Key.Trusted - 1 {
		proxy := fmt.Sprintf("192.0.2.%d", n+1)
		if g.forwarded() {
			proxy = "for=" + proxy
		}
		value += ", " + proxy
	}
	return value
}

func (g *Gun) forwarded() bool { return strings.EqualFold(g.target.Key.Name, "Forwarded") }

// client is the client itself.
func (g *Gun) client(a scenarios.Ask) string {
	given, ok := g.target.Values[a.Key]
	switch {
	case ok && a.Vary.Part == scenarios.PartAddress:
		if address, err := netip.ParseAddr(given); err == nil && address.Is6() {
			return g.written(within(address, g.target.Key.IPv6, a.Turn))
		}
		return given
	case ok:
		return given
	case !g.target.Key.IsAddress():
		return "hammer-" + g.target.Nonce + "-" + a.Key
	}
	address := g.inventClient(a.Key)
	if a.Vary.Part == scenarios.PartAddress {
		address = within(address, g.target.Key.IPv6, a.Turn)
	}
	return g.written(address)
}

// written is an address as the key's header has it.
func (g *Gun) written(a netip.Addr) string {
	switch {
	case !g.forwarded():
		return a.String()
	case a.Is6():
		return `for="[` + a.String() + `]"`
	}
	return "for=" + a.String()
}

// within is the n-th of the addresses that have their first bits in common: the
// bits of n begin just behind those, the lowest first, so that the addresses are
// as many networks of any smaller size as there can be.
func within(a netip.Addr, bits, n int) netip.Addr {
	b := a.As16()
	for i := bits; i < 128 && n > 0; i, n = i+1, n>>1 {
		b[i/8] ^= byte(n&1) << (7 - i%8)
	}
	return netip.AddrFrom16(b)
}
