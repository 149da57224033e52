package defect

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

const (
	maxInstances = 1000
	// maxConnections bounds what is remembered of connections. A client has fewer
	// ports than that.
	maxConnections = 1 << 16
)

func instances() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "instances",
			Settings: "n=NUMBER,route=conn|rr|random",
			Example:  "instances{n=3,route=conn}",
			Text:     "Each of n instances has a budget of its own for every key. Connections are given to them in turn (conn, the default), or requests in turn (rr) or at random. An instance is within one limiter, and no node (--nodes).",
		},
		rows:    []string{"D21"},
		reports: []string{"geolens-io/geolens PR 2037", "alisaifee/flask-limiter issue 40", "kubernetes/ingress-nginx PR 12714", "BerriAI/litellm PR 41221", "Kong/kong issue 2669"},
		stage:   outside,
		apply: func(p *Parts, r *mode.Reader) error {
			n, route := readInstances(r)
			if err := r.Done(); err != nil {
				return err
			}
			p.split("instances", n, route)
			return nil
		},
	}
}

func readInstances(r *mode.Reader) (n int64, route string) {
	n, route = r.Int("n"), r.Choice("route", "conn", "conn", "rr", "random")
	r.Require(n >= 2 && n <= maxInstances, "n", fmt.Sprintf("give 2 to %d instances", maxInstances))
	return n, route
}

// split keeps the keys of n instances apart: the one of alice at the second
// instance is alice@2.
func (p *Parts) split(name string, n int64, route string) {
	instance := p.routing(name, n, route)
	p.asks(func(r *http.Request, a *store.Ask) bool {
		a.Key += "@" + strconv.FormatInt(1+instance(r), 10)
		return true
	})
}

// routing gives each request one of n instances, counted from 0.
func (p *Parts) routing(name string, n int64, route string) func(*http.Request) int64 {
	switch route {
	case "rr":
		var asked atomic.Int64
		return func(*http.Request) int64 { return (asked.Add(1) - 1) % n }
	case "random":
		chance := p.chance(name)
		return func(*http.Request) int64 { return int64(chance() * float64(n)) }
	default: // conn
		c := connections{n: n, of: map[string]int64{}}
		return func(r *http.Request) int64 { return c.instance(r.RemoteAddr) }
	}
}

// connections remembers which instance each connection was given to.
type connections struct {
	n    int64
	mu   sync.Mutex
	of   map[string]int64 // by the address of the client, with its port
	next int64
}

func (c *connections) instance(remote string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, known := c.of[remote]
	if !known {
		if len(c.of) >= maxConnections {
			clear(c.of)
		}
		i, c.next = c.next, (c.next+1)%c.n
		c.of[remote] = i
	}
	return i
}
