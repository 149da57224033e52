// Package dialect writes what a server tells clients of its limits: the many
// header fields in use for it, Retry-After, and the bodies of refusals. It stands
// beside limiter, whose decisions it puts into words, and below server.
package dialect

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// MaxPolicies is how many limits one answer can speak of. A body is prepared for
// each set of them that can refuse.
const MaxPolicies = 8

// Settings say how answers are worded. The zero Settings are a 429 with
// Retry-After in seconds and no other field.
type Settings struct {
	Status     int      // of a refusal; 0: 429
	RetryAfter string   // one of RetryAfters; empty: seconds
	Fields     []string // of Families; nil: none
}

// Policy is one limit as clients are told of it.
type Policy struct {
	Name       string
	Promise    scenarios.Limit
	Quota      int64                                      // tokens that can be had at once; 0: the burst, or the count of a window
	Shared     bool                                       // whether all clients have one budget together
	RetryAfter func(d limiter.Decision, wall int64) int64 // whole seconds that a client refused at wall, in nanoseconds since 1970, is told to wait; nil: limiter.Decision.RetryAfter
	RetryDate  func(moment int64) string                  // how such a moment, in nanoseconds since 1970, is written where a date is told; nil: as an HTTP date, rounded up
}

// Voice speaks for the limits of one route. It may be used by several
// goroutines.
type Voice struct {
	policies []Policy
	families []family
	retry    retryForm
	dated    bool      // whether it writes a date
	refusals []*Answer // by the set of policies that refuse, as bits

	calendar calendar // of Date
	later    calendar // of Retry-After
}

// family is one set of header fields.
type family interface {
	// policy sets what is the same for everybody.
	policy(h http.Header)
	// standing sets what is left to the client of an answer.
	standing(h http.Header, s Standing)
}

// Standing is what the limiter has said of a request.
type Standing struct {
	Decisions []limiter.Decision // by policy
	Wall      int64              // nanoseconds since 1970 on the server's wall clock: the moment of the decision
}

// familyKind is one set of header fields that can be named.
type familyKind struct {
	mode.Doc
	uses  string // field of which there can be only one meaning
	build func([]Policy) (family, error)
}

func familyKinds() []familyKind {
	return []familyKind{draftKind(), draft07Kind(), tripleKind(), xDeltaKind(), xEpochKind(), xEpochMSKind()}
}

// Families describes the sets of header fields that can be chosen.
func Families() []mode.Doc {
	var docs []mode.Doc
	for _, k := range familyKinds() {
		docs = append(docs, k.Doc)
	}
	return docs
}

// New prepares the answers of a route with these limits. The error names what is
// wrong with the settings.
func New(s Settings, policies []Policy) (*Voice, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if len(policies) > MaxPolicies {
		return nil, fmt.Errorf("%d limits together: an answer can speak of at most %d", len(policies), MaxPolicies)
	}
	v := &Voice{policies: slices.Clone(policies), retry: retryFormOf(s.RetryAfter), dated: s.RetryAfter == "date"}
	for i := range v.policies {
		p := &v.policies[i]
		if p.RetryAfter == nil {
			p.RetryAfter = func(d limiter.Decision, _ int64) int64 { return d.RetryAfter() }
		}
		if p.Quota == 0 {
			p.Quota = cmp.Or(p.Promise.Burst, p.Promise.Rate.Count)
		}
	}
	for _, k := range familyKinds() {
		if !slices.Contains(s.Fields, k.Name) {
			continue
		}
		f, err := k.build(v.policies)
		if err != nil {
			return nil, err
		}
		v.families = append(v.families, f)
	}
	v.refusals = refusals(s, v.policies)
	return v, nil
}

// Check says what is wrong with the settings, or nil.
func (s Settings) Check() error {
	var faults []error
	if s.Status != 0 && (s.Status < 400 || s.Status > 599) {
		faults = append(faults, fmt.Errorf("status %d: a refusal is 400 to 599", s.Status))
	}
	if _, ok := retryForms[s.RetryAfter]; !ok && s.RetryAfter != "" {
		faults = append(faults, mode.Unknown("form of Retry-After", s.RetryAfter, RetryAfters()))
	}
	used := map[string]string{}
	for _, name := range s.Fields {
		i := slices.IndexFunc(familyKinds(), func(k familyKind) bool { return k.Name == name })
		if i < 0 {
			faults = append(faults, mode.Unknown("set of fields", name, Families()))
			continue
		}
		field := familyKinds()[i].uses
		if other, taken := used[field]; taken {
			faults = append(faults, fmt.Errorf("fields %s and %s: both are about %s, choose one", other, name, field))
		}
		used[field] = name
	}
	return errors.Join(faults...)
}

// Policies sets the fields that every answer has.
func (v *Voice) Policies(h http.Header) {
	for _, f := range v.families {
		f.policy(h)
	}
}

// Standing sets the fields that say what is left. Answers that were given
// without asking the limiter do not have them: they do not know.
func (v *Voice) Standing(h http.Header, s Standing) {
	for _, f := range v.families {
		f.standing(h, s)
	}
}

// Refusal is the answer to a request that the limits have refused, without its
// Retry-After.
func (v *Voice) Refusal(decisions []limiter.Decision) *Answer {
	set := 0
	for i, d := range decisions {
		if !d.Admitted {
			set |= 1 << i
		}
	}
	return v.refusals[set]
}

// binding is the decision that clients are told of where the fields have room
// for one limit: the one that they have to wait longest for, or else the one
// with the least left.
func binding(s Standing) limiter.Decision {
	b := s.Decisions[0]
	for _, d := range s.Decisions[1:] {
		// An unknown wait is negative, and as a number without a sign the longest.
		if w := cmp.Compare(uint64(d.Wait), uint64(b.Wait)); w > 0 || w == 0 && d.Remaining < b.Remaining {
			b = d
		}
	}
	return b
}

// seconds are rounded up: a client that comes back after them does not come too
// early.
func seconds(d time.Duration) int64 { return ceil(int64(d), int64(time.Second)) }

// ceil divides a number that is not negative.
func ceil(n, by int64) int64 {
	q := n / by
	if n%by > 0 {
		q++
	}
	return q
}
