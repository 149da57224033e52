package assertions

import (
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// prover is an assertion that knows while a run goes on whether it is broken.
type prover interface {
	proven() (check string, ok bool)
}

// Proven reports whether the record so far proves that a promise is broken, and
// which assertion says so. What comes later cannot mend it.
func (j *Judge) Proven() (check string, ok bool) {
	for i, a := range j.assertions {
		p, is := a.(prover)
		if !is || j.fallen[i] != "" {
			continue
		}
		var found string
		j.guard(i, func() { found, ok = p.proven() })
		if ok && j.fallen[i] == "" && scenarios.Covers(j.opts.Checks, found) && j.weighs(a) {
			return found, true
		}
	}
	return "", false
}

// weighs reports whether an assertion counts towards the verdict.
func (j *Judge) weighs(a assertion) bool {
	r, ok := a.(*refusals)
	return !ok || r.level == results.Must || j.opts.Strict
}

func (b *bounds) proven() (string, bool) {
	lower := b.wrong > 0
	for i, l := range b.court.limits {
		switch l.Contract {
		case scenarios.BestEffort:
			lower = lower && len(b.court.limits) > 1
			continue
		case scenarios.Quota: // which does not say whom it counts together
			lower = false
		}
		if b.court.tooMuch(i) {
			return CheckUpper, true
		}
	}
	return CheckLower, lower
}

func (o *honest) proven() (string, bool) { return CheckHonest, o.again > 0 && !o.apart }

func (o *tight) proven() (string, bool) { return CheckTight, o.loose > 0 }

func (r *refusals) proven() (string, bool) { return r.id, r.bad > 0 }
