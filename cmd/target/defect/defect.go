// Package defect holds the switches that make a server wrong on purpose, in the
// ways that real limiters are wrong. A defect exchanges or wraps one part of
// the server; the right parts know nothing of it. It stands between limiter and
// server, which is built of Parts.
package defect

import (
	"fmt"
	"slices"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// Parts are those parts of a server that a defect can change.
type Parts struct {
	Algorithm  limiter.Algorithm            // decides, and says what is promised
	Clock      *clock.Clock                 // told to clients as the Date, and read once for each decision
	Now        func(clock.Instant) int64    // picks from that reading the moment that the algorithm is given, in nanoseconds
	RetryAfter func(limiter.Decision) int64 // whole seconds that a refused client is told to wait
}

// Right gives the parts of a server without a defect: the limiter goes by a
// clock that no step moves, started when the server was, and the true wait is
// told.
func Right(a limiter.Algorithm, c *clock.Clock) Parts {
	if s, ok := a.(limiter.Starter); ok {
		a = s.Start(c.Base().UnixNano())
	}
	return Parts{
		Algorithm:  a,
		Clock:      c,
		Now:        clock.Instant.Since1970,
		RetryAfter: limiter.Decision.RetryAfter,
	}
}

// kind is one defect that can be named. apply reads all settings, asks Done,
// and only then changes the parts.
type kind struct {
	mode.Doc
	apply func(*Parts, *mode.Reader) error
}

// kinds are all defects, in the order in which they are applied: what rebuilds
// an algorithm comes before what wraps it.
func kinds() []kind {
	return []kind{
		offByOne(),
		startsEmpty(),
		losesRefill(),
		wallClock(),
		retryAfter(),
	}
}

// Apply changes the parts by every defect that is named. They may be combined,
// each can be given once, and the order in which they are given does not matter.
// The error names what is wrong with a defect and shows a correct form.
func Apply(p *Parts, defects []mode.Mode) error {
	if err := check(defects); err != nil {
		return err
	}
	for _, k := range kinds() {
		i := slices.IndexFunc(defects, func(m mode.Mode) bool { return m.Name == k.Name })
		if i < 0 {
			continue
		}
		if err := k.apply(p, defects[i].Read(k.Example)); err != nil {
			return fmt.Errorf("defect %w", err)
		}
	}
	return nil
}

func check(defects []mode.Mode) error {
	docs := List()
	for i, m := range defects {
		same := func(d mode.Mode) bool { return d.Name == m.Name }
		if !slices.ContainsFunc(docs, func(d mode.Doc) bool { return d.Name == m.Name }) {
			return mode.Unknown("defect", m.Name, docs)
		}
		if slices.ContainsFunc(defects[:i], same) {
			return fmt.Errorf("defect %s is given twice: give it once, with all its settings", m.Name)
		}
	}
	return nil
}

// List describes the defects that Apply knows.
func List() []mode.Doc {
	var docs []mode.Doc
	for _, k := range kinds() {
		docs = append(docs, k.Doc)
	}
	return docs
}

// wantBucket is nil if the states of the algorithm are buckets, for defects
// that meddle with one.
func wantBucket(name string, a limiter.Algorithm) error {
	if _, ok := a.Fresh(0).(*limiter.Bucket); !ok {
		return fmt.Errorf("%s: is a defect of token buckets, and %s is none", name, a.Promise().Contract)
	}
	return nil
}
