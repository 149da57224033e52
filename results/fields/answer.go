package fields

import (
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// Answer is what one answer tells of limits.
type Answer struct {
	Told     []Told   // by limit, in the order of dialect and name
	Policies []Policy // that it announces
	Wait     Wait     // what a refused client has to conclude; the zero Wait where it was not refused
	Faults   []string // what is there and means nothing, in words
	Notes    []string // what is said of a refusal beside numbers, such as its reason
}

// Told is what an answer tells of one limit.
type Told struct {
	Dialect   Dialect
	Name      string // what the limit is called, or what it counts, as the answer says it; empty: nothing
	Limit     Number // tokens that there are at most
	Remaining Number // tokens that are left; below 0 only if the server says so
	Used      Number // tokens that were spent
	Reset     Moment // when it is told that tokens come back
	// What Spring Cloud Gateway tells instead of a moment.
	PerSecond Number // tokens that come in a second
	Cost      Number // tokens that the request asked for
}

// Dialect is a way of writing, of which each has its own meaning of numbers.
type Dialect string

// The dialects.
const (
	Draft03 Dialect = "draft-03"    // RateLimit-Limit, -Remaining and -Reset, of the drafts -03 to -06
	Draft07 Dialect = "draft-07"    // RateLimit: limit=, remaining=, reset=
	Draft08 Dialect = "draft-08"    // RateLimit: "name";r=;t=, from draft -08 on
	XFields Dialect = "x-ratelimit" // X-RateLimit-..., also with a dash more, which no standard describes
	Vendor  Dialect = "vendor"      // with somebody's name in front
	Calls   Dialect = "call-limit"  // used/size
)

// Standard reports whether the unit of the dialect's moments is written down:
// seconds from the answer on.
func (d Dialect) Standard() bool { return d == Draft03 || d == Draft07 || d == Draft08 }

// Number is a number that an answer need not tell.
type Number struct {
	N    int64
	Told bool
}

// Zero reports whether it was told that nothing is left.
func (n Number) Zero() bool { return n.Told && n.N <= 0 }

// Policy is what a server announces to everybody.
type Policy struct {
	Dialect Dialect
	Name    string        // empty: it has none
	Quota   int64         // tokens
	Window  time.Duration // in which as many come; 0: not told
	Unit    string        // that is counted; empty: requests
}

// Read reads the fields of an answer.
func Read(h *results.Hit) Answer {
	r := reader{date: h.Date, groups: map[group]*Told{}, joined: map[string]string{}}
	for line := range strings.Lines(h.Headers) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ok {
			r.line(strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value))
		}
	}
	r.structured()
	for _, g := range r.order {
		r.answer.Told = append(r.answer.Told, *r.groups[g])
	}
	slices.SortStableFunc(r.answer.Told, func(a, b Told) int {
		if c := strings.Compare(string(a.Dialect), string(b.Dialect)); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	r.answer.Wait = r.wait(h)
	return r.answer
}
