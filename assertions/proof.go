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
	_, check, ok = j.proven()
	return check, ok
}

// Proof is the finding behind what is proven so far, with its key, window and numbers:
// a later one may be larger. It changes nothing in the judge.
func (j *Judge) Proof() (f results.Finding, ok bool) {
	i, check, ok := j.proven()
	if !ok {
		return f, false
	}
	ok = false
	j.guard(i, func() {
		for _, told := range evidence(j.assertions[i], check) {
			if told.Status == results.Broken && told.Check == check {
				f, ok = told, true
				return
			}
		}
	})
	return f, ok
}

// evidence is what an assertion tells of a check so far. Of bounds only what is asked
// for: the search for windows takes its time.
func evidence(a assertion, check string) (found []results.Finding) {
	b, is := a.(*bounds)
	switch {
	case !is:
		return a.tell()
	case check == CheckLower:
		return []results.Finding{b.tooLittle()}
	}
	for i := range b.court.limits {
		found = append(found, b.upper(i))
	}
	return found
}

// proven is the first assertion that says so, and its check.
func (j *Judge) proven() (place int, check string, ok bool) {
	for i, a := range j.assertions {
		p, is := a.(prover)
		if !is || j.fallen[i] != "" {
			continue
		}
		var found string
		j.guard(i, func() { found, ok = p.proven() })
		if ok && j.fallen[i] == "" && scenarios.Covers(j.opts.Checks, found) && j.weighs(a) {
			return i, found, true
		}
	}
	return 0, "", false
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
