package assertions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// aftermath asks what shows of an action behind it: whether what was spent stayed
// spent, whether somebody was locked out, and when there were answers again. It keeps
// the latest requests until something is done, and all that come then.
type aftermath struct {
	acted  *acted
	limits []scenarios.Limit
	tick   time.Duration
	hits   []lived
}

// lived is what is kept of a request.
type lived struct {
	key               string
	seq, cost         int64
	sent, first, done int64
	outcome           results.Outcome
	wrong             bool // it was surely refused wrongly
}

// lately is how many requests are kept until something is done.
const lately = 1 << 12

func newAftermath(a *acted, limits []scenarios.Limit, tick time.Duration) *aftermath {
	return &aftermath{acted: a, limits: limits, tick: tick}
}

func (a *aftermath) check() string { return CheckCarried }
func (a *aftermath) trim(int64)    {}

func (a *aftermath) hear(events []event) {
	done := len(a.acted.marks) > 0
	for _, e := range events {
		if e.kind != ends || done && len(a.hits) == sampleSize+lately {
			continue
		}
		if h := e.f.hit; h.Outcome == results.Admitted || h.Outcome == results.Limited {
			a.hits = append(a.hits, lived{key: h.Key, seq: h.Seq, cost: h.Cost, sent: h.Sent, first: h.First, done: h.Done, outcome: h.Outcome, wrong: e.f.wrong})
		}
	}
	if n := len(a.hits); !done && n > 2*lately {
		a.hits = append(a.hits[:0], a.hits[n-lately:]...)
	}
}

func (a *aftermath) tell() (found []results.Finding) {
	if len(a.acted.marks) == 0 {
		return nil
	}
	slices.SortStableFunc(a.hits, func(x, y lived) int { return cmp.Compare(x.sent, y.sent) })
	found = append(found, a.carried()...)
	if f, ok := a.lockout(); ok {
		found = append(found, f)
	}
	if f, ok := a.again(); ok {
		found = append(found, f)
	}
	return found
}

// CheckAgain is the id of when there were answers again behind an action.
const CheckAgain = "action.recovery"

// again says how long behind the end of each fault the limiter answered again.
func (a *aftermath) again() (f results.Finding, ok bool) {
	f = results.Finding{Check: CheckAgain, Level: results.Info, Status: results.Kept}
	var parts []string
	longest := int64(0)
	for _, m := range a.acted.marks {
		if m.Kind != results.MarkFault || !restores(m) {
			continue
		}
		n := slices.IndexFunc(a.hits, func(h lived) bool { return h.sent >= m.At })
		if n < 0 {
			parts = append(parts, fmt.Sprintf("%s at %s: no answer any more", m.Text, instant(m.At)))
			continue
		}
		took := max(a.hits[n].first-m.To, 0)
		longest = max(longest, took)
		parts = append(parts, fmt.Sprintf("%s at %s: the limiter answers %s", m.Text, instant(m.At), soon(took)))
	}
	const shown = 3
	if n := len(parts) - shown; n > 0 {
		parts = append(parts[:shown], fmt.Sprintf("and %d more, %s at most", n, duration(longest)))
	}
	f.Text, f.FromNS, f.ToNS = strings.Join(parts, "; "), a.acted.marks[0].At, a.acted.marks[len(a.acted.marks)-1].To
	return f, len(parts) > 0
}

func soon(ns int64) string {
	if ns == 0 {
		return "at once"
	}
	return duration(ns) + " later"
}
