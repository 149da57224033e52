package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// Limit is one of the limits that a store keeps the keys of.
type Limit struct {
	Algorithm limiter.Algorithm
	Name      string                    // tells it, in a store that is shared, from limits that are not it; empty: only its place and its algorithm do
	Now       func(clock.Instant) int64 // picks the moment that the algorithm is given, in nanoseconds; nil: clock.Instant.Since1970. A store with a clock of its own has no use for it
	Terms     string                    // all that decisions depend on, in words: states that were made under other terms are not taken for its own

	// What follows is wrong, and for limits that are wrong on purpose.

	Volatile bool          // not written to disk, whatever is declared
	Torn     bool          // reads, decides and writes in steps of their own, between which others read the same
	Gap      time.Duration // between these steps, if Torn
	Apart    bool          // charged also for requests that another limit refuses
	Down     Policy        // what is done while the store cannot decide, whatever is declared; None: what is declared
}

// Ask is what one request asks of one limit.
type Ask struct {
	Limit int    // which one, as an index into the limits that the store was made for
	Key   string // of the client
	Cost  int64  // tokens
	Lease int64  // set by a Decide that has admitted, for Release: which place is held and where; 0: none
}

// Answer is what came of a request.
type Answer struct {
	Admitted  bool               // by all limits that were asked
	Refused   int                // index into the asks of the first limit that refused; -1: none
	Decisions []limiter.Decision // by ask. Of a limit that would have admitted what another refused: Admitted, with nothing spent
	From, At  clock.Instant      // the decision was made between the two; in memory they are equal
	Moments   []int64            // by ask: nanoseconds since 1970 on the clock that was decided by; nil: no store has decided
	Policy    Policy             // what answered in the place of the store; None: the store itself
	Cause     error              // why it was not the store; nil: it was
}

// Store decides on requests and remembers what it has to. It may be used by
// several goroutines at once.
type Store interface {
	// Decide asks the limits, each of them with another key or another limit
	// than the others. Either all admit, or nothing is spent. settle is given the
	// answer, which is its own only until it returns: in the critical section of
	// the keys where the states are in this process, else as soon as the answer is
	// there. It must not use the store; nil: nobody wants to know.
	//
	// The error is a limiter.CostError, or says that the asks make no sense or
	// that the store could not decide; then settle was not called, and what was
	// spent in a store that could not be reached any more is not known.
	Decide(ctx context.Context, asks []Ask, settle func(*Answer)) error
	// Release gives back what admitted asks hold of limits that have to know when
	// a request is done; others are left alone. It wants the asks as Decide left
	// them.
	Release(ctx context.Context, asks []Ask) error
	// Len is how many keys there is a state of, or -1 if it cannot be told.
	Len() int
	// Close ends the use of the store.
	Close() error
}

// ErrAsks says that the asks of a request make no sense, whatever the store.
var ErrAsks = errors.New("the asks make no sense")

// check is the error of asks that make no sense.
func check(asks []Ask, limits int) error {
	if len(asks) == 0 {
		return fmt.Errorf("%w: there are none, and a request has to ask at least one limit", ErrAsks)
	}
	for i, a := range asks {
		if a.Limit < 0 || a.Limit >= limits {
			return fmt.Errorf("%w: limit %d is asked, there are %d, counted from 0", ErrAsks, a.Limit, limits)
		}
		for _, b := range asks[:i] {
			if a.Limit == b.Limit && a.Key == b.Key {
				return fmt.Errorf("%w: limit %d is asked twice for one key; ask once for the sum of the costs", ErrAsks, a.Limit)
			}
		}
	}
	return nil
}
