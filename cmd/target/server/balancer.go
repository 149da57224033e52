package server

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// balancer is what hands requests to the nodes, on an address of its own. It adds
// the client's address to X-Forwarded-For, as proxies do.
type balancer struct {
	server  *Server
	setting frontSetting
	turn    atomic.Uint64
	proxies []*httputil.ReverseProxy // by node
	down    *dialect.Answer
	public  *endpoint
}

// frontSetting is how requests are handed out.
type frontSetting struct {
	by      string  // one of Fronts
	address string  // where it listens
	key     key.Key // of sticky; zero: the address of the client
}

// Fronts describes how a front can hand requests to nodes.
func Fronts() []mode.Doc {
	return []mode.Doc{
		{Name: "round-robin", Settings: "address=HOST:PORT", Example: "round-robin{address=127.0.0.1:8090}", Text: "Each request goes to the next node."},
		{Name: "connection", Settings: "address=HOST:PORT", Example: "connection{address=127.0.0.1:8090}", Text: "Each connection goes to the next node, with all its requests."},
		{Name: "sticky", Settings: "address=HOST:PORT,by=KEY", Example: "sticky{address=127.0.0.1:8090,by=header:X-Api-Key}", Text: "Requests of one client go to one node: of one address, or of what by says (one of the keys)."},
	}
}

func readFront(m mode.Mode) (f frontSetting, err error) {
	for _, d := range Fronts() {
		if d.Name != m.Name {
			continue
		}
		r := m.Read(d.Example)
		f.by, f.address = d.Name, r.TextOr("address", "127.0.0.1:0")
		if d.Name == "sticky" {
			var wrong error
			if f.key, wrong = key.Parse(r.TextOr("by", "ip")); wrong != nil {
				r.Require(false, "by", wrong.Error())
			}
		}
		_, _, wrong := net.SplitHostPort(f.address)
		r.Require(wrong == nil, "address", "write HOST:PORT")
		return f, r.Done()
	}
	return f, mode.Unknown("front", m.Name, Fronts())
}

// openFront starts the front, if there is to be one.
func (s *Server) openFront() error {
	if s.cfg.Front.IsZero() {
		return nil
	}
	f, err := readFront(s.cfg.Front)
	if err != nil {
		return err
	}
	b := &balancer{server: s, setting: f, down: dialect.Busy(http.StatusBadGateway, "No node", "the node that this request is for does not answer")}
	for _, n := range s.nodes {
		p, err := b.proxy(n)
		if err != nil {
			return fmt.Errorf("front: %w", err)
		}
		b.proxies = append(b.proxies, p)
	}
	at := Listener{Name: "front", Address: f.address}
	ln, err := at.listen()
	if err != nil {
		return fmt.Errorf("front: %w", err)
	}
	if b.public, err = run(at, newDoors(s.cfg.MaxConns).guard(ln), b, requestTimeout, answerTimeout, quietLog(s.cfg.Log), nil); err != nil {
		ln.Close()
		return err
	}
	s.front = b
	return nil
}

// proxy hands on to the first plain address of a node.
func (b *balancer) proxy(n *node) (*httputil.ReverseProxy, error) {
	for i, l := range n.listeners {
		if l.TLS || l.HTTP == "http2" {
			continue
		}
		network, address := "tcp", l.Address
		if path, unix := l.socket(); unix {
			network, address = "unix", path
		}
		to, err := url.Parse(n.endpoints()[i].url)
		if err != nil {
			return nil, err
		}
		return &httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) {
				r.Out.Header["X-Forwarded-For"] = r.In.Header["X-Forwarded-For"]
				r.SetXForwarded()
				r.SetURL(to)
				r.Out.Host = r.In.Host
			},
			Transport: &http.Transport{
				DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					var d net.Dialer
					return d.DialContext(ctx, network, address)
				},
				MaxIdleConnsPerHost: 256,
				DisableCompression:  true,
			},
			ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
				if !errors.Is(err, context.Canceled) {
					b.server.voice.Write(w, b.down, b.server.nodes[0].clock.Read().Wall)
				}
			},
			ErrorLog: quietLog(b.server.cfg.Log),
		}, nil
	}
	return nil, fmt.Errorf("node %d has no address with plain HTTP/1.1: give it one", n.number)
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	visitor := visitorOf(r.Context())
	visitor.begin()
	defer visitor.end()
	b.proxies[b.choose(r)].ServeHTTP(w, r)
}

// choose is the index of the node that gets the request: the one whose turn it is,
// or the next one that is up.
func (b *balancer) choose(r *http.Request) int {
	var turn uint64
	switch b.setting.by {
	case "connection":
		turn = visitorOf(r.Context()).turn
	case "sticky":
		of, _ := b.setting.key.Of(r)
		h := fnv.New64a()
		_, _ = h.Write([]byte(of))
		turn = h.Sum64()
	default:
		turn = b.turn.Add(1) - 1
	}
	n := len(b.proxies)
	first := int(turn % uint64(n))
	for i := range n {
		if at := (first + i) % n; b.server.nodes[at].endpoints() != nil {
			return at
		}
	}
	return first
}

// close ends what the front has under way. A nil front has nothing.
func (b *balancer) close() error {
	if b == nil {
		return nil
	}
	err := b.public.close(publicGrace)
	for _, p := range b.proxies {
		p.Transport.(*http.Transport).CloseIdleConnections()
	}
	return err
}
