package virtual

import (
	"strconv"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// Limited is a server behind one limiter, which each key has to itself.
type Limited struct {
	Algorithm limiter.Algorithm
	// Now is the limiter's clock: nanoseconds at a moment of the client's. Nil:
	// the two are the same.
	Now func(int64) int64
	// RetryAfter is what a refusal tells; nil: the wait, rounded up.
	RetryAfter func(limiter.Decision) string
	// Serves is how long an admitted request is served, beside what the limiter
	// holds it back for.
	Serves time.Duration

	states   map[string]limiter.State
	releases []release
}

// release is the end of a request that holds a place.
type release struct {
	at   int64
	key  string
	cost int64
}

// Answer decides and answers: 200, 429, or 400 where the cost can never be admitted.
func (l *Limited) Answer(r Request) Answer {
	if l.states == nil {
		l.states = map[string]limiter.State{}
	}
	l.free(r.At)
	now := l.now(r.At)
	s := l.states[r.Key]
	if s == nil {
		s = l.Algorithm.Fresh(now)
		l.states[r.Key] = s
	}
	d, err := l.Algorithm.Decide(s, now, r.Cost)
	switch {
	case err != nil:
		return Answer{Status: 400}
	case !d.Admitted:
		return Answer{Status: 429, RetryAfter: l.retryAfter(d)}
	}
	after := d.Delay + l.Serves
	if _, ok := l.Algorithm.(limiter.Releaser); ok {
		l.releases = append(l.releases, release{r.At + int64(after), r.Key, r.Cost})
	}
	return Answer{Status: 200, After: after}
}

func (l *Limited) now(at int64) int64 {
	if l.Now == nil {
		return at
	}
	return l.Now(at)
}

func (l *Limited) retryAfter(d limiter.Decision) string {
	if l.RetryAfter == nil {
		return strconv.FormatInt(d.RetryAfter(), 10)
	}
	return l.RetryAfter(d)
}

// free gives places back whose requests are done.
func (l *Limited) free(at int64) {
	kept := l.releases[:0]
	for _, r := range l.releases {
		if r.at > at {
			kept = append(kept, r)
			continue
		}
		l.Algorithm.(limiter.Releaser).Release(l.states[r.key], l.now(r.at), r.cost)
	}
	l.releases = kept
}
