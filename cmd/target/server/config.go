// Package server is the reference server over HTTP: it asks a limiter about
// every request, answers, and keeps the truth about each decision for tests to
// compare with. It stands at the end of cmd/target, on limiter, store, clock and
// defect, and can be started in-process: it writes nothing to standard output,
// ends no process and has no state outside of a Server.
package server

import (
	"log/slog"
	"net"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// DefaultLimit is the limit of a Config that names none.
const DefaultLimit = "token-bucket{burst=10,rate=5/1s}"

// defaultTruthKeep records take 23 MB and their keys, once they are there.
const defaultTruthKeep = 256 * 1024

// Config says which server to start. The zero Config is a right server on a
// free port of 127.0.0.1, with one budget of 10 tokens and 5 a second for all.
type Config struct {
	Listen     string        // address to serve on; empty: 127.0.0.1:0; port 0: any free port
	Admin      string        // address of the admin side; empty: 127.0.0.1:0; without a host: 127.0.0.1, and not every address
	Limit      mode.Mode     // one of limiter.List; zero: DefaultLimit
	Key        scenarios.Key // what clients are told apart by; zero: nothing, they share one budget
	CostHeader string        // request header with the cost in tokens; empty, or absent from a request: 1
	Defects    []mode.Mode   // of defect.List; nil: none
	Mode       mode.Mode     // one of Modes: what is checked beside the limit; zero: plain
	Announce   bool          // whether answers carry RateLimit-Policy and RateLimit
	TruthKeep  int           // decisions kept for the truth feed, rounded up to 1024s; 0 or less: 262,144, which take up to 23 MB and their keys
	Log        *slog.Logger  // for people who run the server; nil: nothing is logged
}

// withDefaults is the Config with every zero value filled in but those of Key,
// CostHeader, Defects and Announce, which mean what they say.
func (c Config) withDefaults() (Config, error) {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	c.Admin = localUnlessSaid(c.Admin)
	if c.Limit.IsZero() {
		m, err := mode.Parse(DefaultLimit)
		if err != nil {
			return c, err
		}
		c.Limit = m
	}
	if c.Mode.IsZero() {
		c.Mode = mode.Mode{Name: "plain"}
	}
	if c.TruthKeep <= 0 {
		c.TruthKeep = defaultTruthKeep
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, nil
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
