// Package limiter holds the algorithms of rate limiting, right and pure: time
// and cost are passed in, what is remembered of a key is handed in and changed
// in place, and nothing here knows of HTTP, locks or clocks. It stands between
// mode, which names an algorithm, and server, which asks it.
package limiter

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Algorithm decides for one key at a time. It holds the settings and no state,
// so one value serves all keys at once, as long as each State is used by one
// caller at a time. Moments are nanoseconds on one clock of the caller's choice,
// from 0 to 2^61, which is in 2043 if it counts from 1970. A clock that a right
// limiter goes by never goes back; what an algorithm makes of one that does, it
// says.
type Algorithm interface {
	// Promise is what clients are told of the limit. Its Key and Answers are
	// zero: they are the server's business.
	Promise() scenarios.Limit
	// Fresh is the state of a key that was never seen before now.
	Fresh(now int64) State
	// Decide says whether a request of this cost is admitted at now, and
	// changes the state accordingly. A cost that no amount of waiting would
	// admit is a CostError and leaves the state as it is.
	Decide(s State, now, cost int64) (Decision, error)
	// View tells the figures of a key at now while nothing is asked: Before and
	// After are the same, nothing is admitted, and the state is left as it is.
	View(s State, now int64) Decision
	// Forgettable reports whether from now on a Fresh state would be decided
	// exactly as s, so that s need not be kept.
	Forgettable(s State, now int64) bool
}

// State is what an algorithm remembers of one key: a pointer to a struct of the
// algorithm's own, made by its Fresh and passed to no other algorithm.
type State interface {
	// Clone is a copy that later decisions on the original do not change.
	Clone() State
}

// Releaser is an Algorithm that has to know when an admitted request is done.
type Releaser interface {
	Algorithm
	// Release gives back what an admitted request of this cost has held.
	Release(s State, now, cost int64)
}

// Starter is an Algorithm some of whose settings count time from the start of
// the server.
type Starter interface {
	Algorithm
	// Start is the same algorithm for a server that started at now.
	Start(now int64) Algorithm
}

// Wrapper is an Algorithm that tells something else of another one's decisions,
// which is what a store that decides by itself has to know.
type Wrapper interface {
	Algorithm
	// Unwrap is the algorithm whose states and decisions it has.
	Unwrap() Algorithm
}

// Unknown is the Wait of a refusal whose end no clock tells: a place comes free
// when another request is done.
const Unknown = time.Duration(-1)

// Decision is the answer to one request, with the figures it rests on. Levels
// are what is left to spend. They are exact: counted in units, of which Unit
// make one token.
type Decision struct {
	Admitted  bool          // false: refused, and nothing was spent
	Before    int64         // level that was decided on, in units: after the refill
	After     int64         // level that was stored, in units: less than Before by the cost if admitted
	Unit      int64         // units per token, at least 1
	Remaining int64         // whole tokens that clients are told are left, never negative
	Limit     int64         // whole tokens that clients are told there are at most
	Wait      time.Duration // until the same request would be admitted if nothing else came, rounded up to a nanosecond; 0 only if admitted; Unknown: no clock tells
	Delay     time.Duration // that an admitted request has to be held back before it is served; 0: none
	Reset     time.Duration // until the key is as if it had never been used, if nothing else comes; 0: it is; Unknown: no clock tells
}

// RetryAfter is Wait in whole seconds, rounded up, as a refused client has to
// be told it: never 0, since a refusal always has to wait. An Unknown wait gives
// 1, which is a polite guess.
func (d Decision) RetryAfter() int64 {
	s := int64(d.Wait / time.Second)
	if d.Wait%time.Second > 0 {
		s++
	}
	if d.Wait < 0 {
		return 1
	}
	return s
}

// CostError says that a request can never be admitted, whatever the state: the
// caller's mistake, and not a refusal.
type CostError struct {
	Cost int64 // tokens asked for
	Most int64 // tokens that one request may ask for; the least is 1
}

func (e *CostError) Error() string {
	return fmt.Sprintf("a cost of %d can never be admitted: give 1 to %d", e.Cost, e.Most)
}

// FaultError says that the limiter itself has failed, as only a wrong one does.
// The state is as it was.
type FaultError struct {
	Text string // what went wrong
}

func (e *FaultError) Error() string { return "the limiter has failed: " + e.Text }

// kind is one algorithm that can be named.
type kind struct {
	mode.Doc
	build func(*mode.Reader) (Algorithm, error)
}

func kinds() []kind {
	return []kind{
		tokenBucket(),
		lumps(),
		gcra(),
		meter(),
		queue(),
		fixedWindow(),
		slidingLog(),
		slidingCounter(),
		calendar(),
		nginx(),
		concurrency(),
	}
}

// New builds the algorithm that m names, such as token-bucket{burst=10,rate=5/1s}.
// The error names what is wrong with m and shows a correct form.
func New(m mode.Mode) (Algorithm, error) {
	for _, k := range kinds() {
		if k.Name == m.Name {
			return k.build(m.Read(k.Example))
		}
	}
	return nil, mode.Unknown("limit", m.Name, List())
}

// List describes the algorithms that New builds.
func List() []mode.Doc {
	var docs []mode.Doc
	for _, k := range kinds() {
		docs = append(docs, k.Doc)
	}
	return docs
}
