// Package server is the reference server over HTTP: it asks limiters about every
// request, answers, and keeps the truth about each decision for tests to compare
// with. It stands at the end of cmd/target, on limiter, store, clock, defect, key,
// dialect and truth, and can be started in-process: it writes nothing to standard
// output, ends no process and has no state outside of a Server.
package server

import (
	"errors"
	"log/slog"
	"net"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// DefaultLimit is the limit of a Config that names none.
const DefaultLimit = "token-bucket{burst=10,rate=5/1s}"

// DefaultName is what the limit of a Config with one limit is called.
const DefaultName = "default"

const (
	defaultTruthKeep  = 256 * 1024 // take 50 MB and their keys, once they are there
	defaultMaxConns   = 8192
	defaultMaxWaiting = 10_000
)

// Config says which server to start. The zero Config is a right server on a
// free port of 127.0.0.1, with one budget of 10 tokens and 5 a second for all.
type Config struct {
	Listeners []Listener // nil: one, plain, on a free port of 127.0.0.1
	Limits    []Limit    // names must differ; nil: one, made of the fields Limit, Key and Defects
	Routes    []Route    // nil: one for every path, with all limits

	Limit   mode.Mode     // one of limiter.List; zero: DefaultLimit. Only without Limits
	Key     scenarios.Key // what clients are told apart by; zero: nothing, they share one budget. Only without Limits
	Defects []mode.Mode   // of defect.List; nil: none. Only without Limits

	Nodes     int              // servers with a clock and an address each, behind one promise; 0: 1
	NodeStore mode.Mode        // one of NodeStores: what several nodes know of each other; zero: shared
	Front     mode.Mode        // one of Fronts: what hands requests to the nodes; zero: nothing does
	Clock     []clock.Scripted // what the clocks do by themselves; nil: they run as the machine's does

	// Reread gives the Config anew when it is to be reloaded: from this file, or nil:
	// from where it came from. Nil: there is nothing to read, and a reload changes
	// nothing.
	Reread func(file []byte) (Config, error)

	Admin      string       // address of the admin side; empty: 127.0.0.1:0; without a host: 127.0.0.1, and not every address
	AdminToken string       // what the admin side asks for; empty: nothing, or one that is made up if it can be reached from elsewhere
	Seed       uint64       // of what defects leave to chance; servers with the same seed do the same
	TruthKeep  int          // decisions kept for the truth feed, rounded up to 1024s; 0 or less: 262,144, which take up to 50 MB and their keys
	MaxConns   int          // connections open at once, on all listeners together; 0 or less: 8192
	MaxWaiting int          // requests held back at once; 0 or less: 10,000
	Log        *slog.Logger // for people who run the server; nil: nothing is logged
}

// Listener is an address to serve on.
type Listener struct {
	Name    string // what routes call it; empty: its Address
	Address string // HOST:PORT, of which port 0 takes a free one, or unix:PATH; empty: 127.0.0.1:0
	TLS     bool   // with a certificate that the server has signed itself; false: plain
	HTTP    string // one of HTTPVersions; empty: both
}

// Limit is one limit that routes can name.
type Limit struct {
	Name       string      // empty: DefaultName
	Algorithm  mode.Mode   // one of limiter.List
	Key        key.Key     // what clients are told apart by; zero: nothing, they share one budget
	CostHeader string      // request header with the cost in tokens; empty, or absent from a request: 1
	CostBody   string      // how the cost is read from the body: array, an array of JSON costs as much as it has elements; empty: it is not
	Store      mode.Mode   // one of Stores; zero: memory
	Fallback   mode.Mode   // one of limiter.List, kept to in this process while the store is down and is said to be replaced; zero: the Algorithm
	BestEffort bool        // the numbers are a wish: what is admitted beyond them breaks no promise; false: the promise of the algorithm
	Defects    []mode.Mode // of defect.List; nil: none
}

// Route is what requests to some path meet.
type Route struct {
	Path      string           // it and all below it; of several routes the longest counts; empty: /
	Listeners []string         // names; nil: all
	Limits    []string         // names; all have to admit, or nothing is spent; nil: requests are not limited
	Mode      mode.Mode        // one of Modes: what is checked beside the limits; zero: plain
	Answers   dialect.Settings // how answers are worded; zero: 429 with Retry-After in seconds
	Exempt    []string         // paths that reading is never limited on, one with a slash at its end with all below it; nil: those of the mode
	Head      string           // one of Methods for HEAD; empty: limited
	Options   string           // one of Methods for OPTIONS; empty: limited, with Origins preflight
	Origins   []string         // that may read answers from a page in a browser, or *; nil: none
}

// withDefaults is the Config with every zero value filled in that has a meaning
// of its own.
func (c Config) withDefaults() (Config, error) {
	if len(c.Listeners) == 0 {
		c.Listeners = []Listener{{}}
	}
	if err := c.spellOut(); err != nil {
		return c, err
	}
	if c.Routes == nil {
		r := Route{}
		for _, l := range c.Limits {
			r.Limits = append(r.Limits, l.name())
		}
		c.Routes = []Route{r}
	}
	c.Admin = localUnlessSaid(c.Admin)
	c.TruthKeep = orElse(c.TruthKeep, defaultTruthKeep)
	c.MaxConns = orElse(c.MaxConns, defaultMaxConns)
	c.MaxWaiting = orElse(c.MaxWaiting, defaultMaxWaiting)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// spellOut turns the short form, for a server with one limit, into Limits.
func (c *Config) spellOut() error {
	if c.Limits != nil {
		if !c.Limit.IsZero() || c.Key != (scenarios.Key{}) || c.Defects != nil {
			return errors.New("both Limits and the short form for one limit are given: give one of them")
		}
		return nil
	}
	if c.Limit.IsZero() {
		m, err := mode.Parse(DefaultLimit)
		if err != nil {
			return err
		}
		c.Limit = m
	}
	k, err := key.Parse(c.Key.String())
	if err != nil {
		return err
	}
	c.Limits = []Limit{{Name: DefaultName, Algorithm: c.Limit, Key: k, Defects: c.Defects}}
	return nil
}

func orElse(n, fallback int) int {
	if n <= 0 {
		return fallback
	}
	return n
}

// localUnlessSaid keeps the admin side, which shows raw keys and moves the
// clock, off the network: an address without a host would mean all of them.
func localUnlessSaid(address string) string {
	if address == "" {
		return "127.0.0.1:0"
	}
	if host, port, err := net.SplitHostPort(address); err == nil && host == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}
