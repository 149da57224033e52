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
// caller at a time. Moments are nanoseconds on one clock of the caller's choice.
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
	// Forgettable reports whether from now on a Fresh state would be decided
	// exactly as s, so that s need not be kept.
	Forgettable(s State, now int64) bool
}

// State is what an algorithm remembers of one key: a pointer to a struct of the
// algorithm's own, made by its Fresh and passed to no other algorithm.
type State any

// Decision is the answer to one request, with the figures it rests on. Levels
// are exact: counted in units, of which Unit make one token.
type Decision struct {
	Admitted  bool          // false: refused, and nothing was spent
	Before    int64         // level that was decided on, in units: after the refill
	After     int64         // level that was stored, in units: less than Before by the cost if admitted
	Unit      int64         // units per token, at least 1
	Remaining int64         // whole tokens that clients are told are left, never negative
	Wait      time.Duration // until the same request would be admitted if nothing else were, rounded up to a nanosecond; 0 only if admitted
}

// RetryAfter is Wait in whole seconds, rounded up, as a refused client has to
// be told it: never 0, since a refusal always has to wait.
func (d Decision) RetryAfter() int64 {
	s := int64(d.Wait / time.Second)
	if d.Wait%time.Second > 0 {
		s++
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

// kind is one algorithm that can be named.
type kind struct {
	mode.Doc
	build func(*mode.Reader) (Algorithm, error)
}

func kinds() []kind {
	return []kind{
		tokenBucket(),
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
