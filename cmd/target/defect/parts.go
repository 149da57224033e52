package defect

import (
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/store"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Parts are those parts of a server that a defect can change. There is one set
// for each limit.
type Parts struct {
	Algorithm  limiter.Algorithm                          // decides, and says what is promised
	Clock      *clock.Clock                               // told to clients as the Date, and read once for each decision
	Now        func(clock.Instant) int64                  // picks from that reading the moment that the algorithm is given, in nanoseconds
	RetryAfter func(d limiter.Decision, wall int64) int64 // whole seconds that a client refused at wall, in nanoseconds since 1970, is told to wait

	RetryDate func(moment int64) string                                          // how such a moment, in nanoseconds since 1970, is written as a date; nil: as an HTTP date, rounded up
	Promised  func(scenarios.Limit, int64) (scenarios.Limit, int64)              // changes what clients are told of the promise, and of how many tokens can be had at once; nil: nothing
	Key       key.Key                                                            // what clients are told apart by
	Ask       func(*http.Request, *store.Ask) bool                               // changes what is asked for a request, and is false for one that no limit of the route sees; nil: nothing is changed
	Told      func(a store.Ask, wall int64, d limiter.Decision) limiter.Decision // what clients are told of the decision on an ask at wall, in nanoseconds since 1970, beside yes or no; nil: as it is
	Torn      bool                                                               // reads, decides and writes in steps of their own, between which others read the same
	Gap       time.Duration                                                      // between these steps, if Torn
	Apart     bool                                                               // charged also for requests that another limit refuses
	Came      int64                                                              // when the limit came with these defects: nanoseconds on the monotonic clock
	Ahead     func(mono int64) int64                                             // how far the wall clock of the limit, and the Date of its answers, are ahead of the server's at a monotonic moment; nil: not at all
	Since     func() int64                                                       // since when one of the processes that share the states has been there all the time: nanoseconds, as clock.Instant.Since1970 has them; nil: always
	Volatile  bool                                                               // states are not written to a disk, whatever is declared
	Down      store.Policy                                                       // what is done while the store cannot decide, whatever is declared; None: what is declared

	ParseFirst bool // requests that fail before the limit is asked are not counted, whatever is declared

	seed uint64
}

// Right gives the parts of a server without a defect: the limiter goes by a
// clock that no step moves, started when the server was, and the true wait is
// told. What defects leave to chance comes from the seed.
func Right(a limiter.Algorithm, c *clock.Clock, seed uint64) Parts {
	if s, ok := a.(limiter.Starter); ok {
		a = s.Start(c.Base().UnixNano())
	}
	return Parts{
		Algorithm:  a,
		Clock:      c,
		Now:        clock.Instant.Since1970,
		RetryAfter: func(d limiter.Decision, _ int64) int64 { return d.RetryAfter() },
		seed:       seed,
	}
}

// chance gives numbers from 0 to below 1, of its own for each name. It may be
// used by several goroutines.
func (p *Parts) chance(name string) func() float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(p.seed, h.Sum64()))
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return rng.Float64()
	}
}

// asks adds a change of what is asked, after those that are there already.
func (p *Parts) asks(change func(*http.Request, *store.Ask) bool) {
	other := p.Ask
	if other == nil {
		p.Ask = change
		return
	}
	p.Ask = func(r *http.Request, a *store.Ask) bool { return other(r, a) && change(r, a) }
}

// tells adds a change of what clients are told.
func (p *Parts) tells(change func(store.Ask, int64, limiter.Decision) limiter.Decision) {
	other := p.Told
	if other == nil {
		p.Told = change
		return
	}
	p.Told = func(a store.Ask, wall int64, d limiter.Decision) limiter.Decision {
		return change(a, wall, other(a, wall, d))
	}
}

// Stored is the limit as a store has it, by this name.
func (p *Parts) Stored(name string) store.Limit {
	return store.Limit{Algorithm: p.Algorithm, Name: name, Now: p.Now, Torn: p.Torn, Gap: p.Gap, Apart: p.Apart, Down: p.Down, Volatile: p.Volatile}
}
