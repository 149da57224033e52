package assertions

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Ids of causes that are no contract. Those of contracts are contract. and the
// contract that the limiter behaves like, such as contract.fixed-window.
const (
	CauseAbsent     = "limiter.absent"  // nothing is limited
	CauseShared     = "keys.shared"     // one budget for all keys
	CauseMultiple   = "limit.multiple"  // burst and rate multiplied by the same number
	CauseFraction   = "limit.fraction"  // both divided by the same number
	CauseOffset     = "limit.offset"    // the number at once is off by one, the rate is right
	CauseSize       = "limit.size"      // the number at once is another, the rate is right
	CauseRate       = "rate.scaled"     // the rate is another, the number at once is right
	CauseNumbers    = "limit.numbers"   // both are others
	CauseAlign      = "limit.align"     // its periods begin elsewhere
	CauseEmpty      = "starts.empty"    // a key has nothing when it is first used
	CauseRace       = "decision.race"   // too much passes where requests overlap, and nowhere else
	CauseClock      = "clock.step"      // several keys break the promise at the same few moments
	CauseMoment     = "moment.odd"      // the promise is broken at few moments, and not on several keys at once
	CauseRecurs     = "moment.recurs"   // the same requests on another key break it again
	CauseEvicted    = "keys.evicted"    // keys are forgotten when many others come
	CauseConnection = "keys.connection" // each connection has a budget of its own
	causeUnknown    = "unknown"         // the search failed

	CauseContract = "contract." // begins those of contracts
)

// causes are what the broken findings probably come from, the likeliest first.
// A fault in the search costs the causes and not the verdict.
func (j *Judge) causes(found []results.Finding) (causes []results.Cause) {
	if j.opts.NoCauses {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			causes = []results.Cause{{ID: causeUnknown, Text: fmt.Sprintf("not known: the search itself failed, which is a fault of hammer: %v", p)}}
		}
	}()
	j.acted.freed = freed(found) && !slices.ContainsFunc(j.limits, byWall)
	for i, l := range j.limits {
		broken := map[string]*results.Finding{}
		for n := range found {
			if f := &found[n]; f.Status == results.Broken && f.Level == results.Must && f.Limit == l.Name {
				broken[f.Check] = f
			}
		}
		if c := j.causesOf(i, broken); len(c) > 0 {
			return c
		}
	}
	return nil
}

// causesOf are those of one limit.
func (j *Judge) causesOf(i int, broken map[string]*results.Finding) []results.Cause {
	switch {
	case broken[CheckEnforced] != nil:
		return []results.Cause{absent(broken[CheckEnforced])}
	case broken[CheckIsolation] != nil:
		return []results.Cause{shared(broken[CheckIsolation])}
	case broken[CheckUpper] == nil && broken[CheckLower] == nil && broken[CheckWindow] == nil && broken[CheckExact] == nil:
		return nil
	}
	d := newDiagnosis(j.whole(), j.limits, i)
	d.subtle = broken[CheckUpper] == nil && broken[CheckLower] == nil && broken[CheckWindow] == nil
	d.trials = j.trials(d.sample.ticks(j.limits[i].Fill()))
	d.after, d.acted = len(j.sample.hits), j.acted
	requests := j.tally.total()
	return d.decided(d.causes(requests), requests)
}

// causes tries what may explain the sample; the record has so many requests.
func (d *diagnosis) causes(requests int64) []results.Cause {
	if _, ok := d.fits(d.limit()); ok && !d.subtle {
		return nil // what broke the promise came later than the sample
	}
	var causes []results.Cause
	var others []string
	tried := 0
	try := func(fault func() (results.Cause, bool)) {
		if len(causes) == 0 {
			tried++
			if c, ok := fault(); ok {
				causes = append(causes, c)
			}
		}
	}
	odd := d.breaches()
	try(func() (results.Cause, bool) { return d.acts(odd) })
	try(d.empty)
	var fit []explanation
	var equal bool
	done := len(causes) > 0 && (causes[0].ID == CauseActed || causes[0].ID == CauseClock)
	switch {
	case len(causes) > 0:
	case d.anyones():
		var n int
		causes, others, equal, n = d.ofAny()
		tried, others = tried+n, others[min(1, len(others)):]
		try(d.chargedApart)
	default:
		var n int
		fit, n = d.explanations()
		tried += n
		for i, x := range fit {
			causes = append(causes, d.cause(x))
			if i > 0 {
				others = append(others, named(x))
			}
		}
		equal = len(fit) > 1 && d.strain(fit[1]) <= d.strain(fit[0])+1
	}
	try(d.race)
	try(func() (results.Cause, bool) { return d.setBack(odd) })
	try(func() (results.Cause, bool) { return d.besieged(odd) })
	try(func() (results.Cause, bool) { return d.stopped(odd) })
	try(func() (results.Cause, bool) { return d.oddMoments(odd) })
	if len(causes) == 0 {
		return nil
	}
	held := d.held()
	for i := range causes {
		causes[i].Limit, causes[i].Tried, causes[i].Only = cmp.Or(causes[i].Limit, d.limit().Name), tried, len(causes) == 1
		causes[i].Explains = float64(held) / float64(max(requests, held, 1))
	}
	if race := d.overlaps(fit); race != nil {
		causes, others = append(causes, *race), append(others, "a race, since too much passed only where requests overlapped")
		causes[0].Only, causes[0].Text = false, "perhaps "+causes[0].Text
	}
	if causes[0].ID == CauseMoment { // it says when, and explains nothing
		causes[0].Only = false
		causes[0].Text += fmt.Sprintf("; what it comes from is not known, none of %d explanations tried explains it", tried-1)
	} else if done { // it was not held against what was not broken
		causes[0].Explains, causes[0].Only = 0, false
		causes[0].Text += fmt.Sprintf(" (all that was found broken in %s came behind what was done; whether it explains the others was not asked)", plural(held, "request"))
	} else {
		causes[0].Text += certainty(others, equal, tried, held, requests)
	}
	// A limit that explains all needs no event that happened to the server.
	if together := d.together(odd, causes[0].ID == CauseClock || causes[0].ID == CauseActed); together != "" && len(fit) == 0 {
		causes[0].Reasons = append(causes[0].Reasons, together)
	}
	return causes
}

// anyones reports whether it is refusals that break the promise, which may be any one's
// of several limits.
func (d *diagnosis) anyones() bool {
	return len(d.limits) > 1 && !d.subtle && d.wronged(d.limit()) && !d.over(d.limit())
}

// overlaps is the cause of a race beside limits that admit more and explain the
// record as well; nil: something passed that overlapped with nothing, or nothing
// passed too much.
func (d *diagnosis) overlaps(fit []explanation) *results.Cause {
	if len(fit) == 0 || d.wronged(d.limit()) || !d.over(d.limit()) || !d.overlapping() {
		return nil
	}
	return &results.Cause{ID: CauseRace, Limit: d.limit().Name, Explains: 1, Text: "requests that overlap are decided before each other's are counted: too much passes only among those"}
}

// explanations are those that the sample does not refute, the simplest first,
// and how many were tried.
func (d *diagnosis) explanations() (fit []explanation, tried int) {
	promised := d.promised()
	for _, f := range d.order() {
		tried++
		d.work = max(d.work, 0) + causeWork // each has its turn, however much the others took
		if f.contract == promised {
			d.work += promisedWork
		}
		if x, ok := d.explain(f); ok && !d.refutes(x) && !dripping(x, fit) && !vague(x, fit) && (d.holds(x) || d.settles(&x)) {
			fit = append(fit, x)
		}
	}
	if tried++; len(d.limits) == 1 {
		if x, ok := d.sideBySide(); ok {
			fit = append(fit, x)
		}
	}
	// One limiter says it more simply, and so does another algorithm with the very
	// numbers that are promised.
	if slices.ContainsFunc(fit, func(x explanation) bool { return !x.apart && (x.factor != 0 || x.kept == 2) }) {
		fit = slices.DeleteFunc(fit, func(x explanation) bool { return x.apart })
	}
	if promised == scenarios.Queue && d.holdsBack() { // which only a queue does; elsewhere it may be slow work
		fit = slices.DeleteFunc(fit, func(x explanation) bool { return x.family.contract != scenarios.Queue })
	}
	// What refusals tell decides among those.
	if slices.ContainsFunc(fit, explanation.foretold) {
		fit = slices.DeleteFunc(fit, func(x explanation) bool { return !x.foretold() })
	}
	slices.SortStableFunc(fit, func(a, b explanation) int {
		return cmp.Or(cmp.Compare(d.strain(a), d.strain(b)), -cmp.Compare(math.Round(a.waits*10), math.Round(b.waits*10)))
	})
	return fit, tried
}

// refutes reports whether an explanation is the promise itself, which only the
// exact search refutes.
func (d *diagnosis) refutes(x explanation) bool {
	l := d.limit()
	return x.family.contract == d.promised() && x.limit.Size() == l.Size() && same(x.limit.Token(), l.Token()) && d.placed(x.family)
}

// dripping reports whether an explanation is lumps of one token, where a bucket
// with the same numbers explains the record as well: that is the same but for
// what is too small to matter.
func dripping(x explanation, fit []explanation) bool {
	return x.family.contract == scenarios.Lumps && x.limit.Rate.Count == 1 && slices.ContainsFunc(fit, func(o explanation) bool {
		return o.family.contract == scenarios.TokenBucket && o.limit.Burst == x.limit.Burst && same(o.limit.Token(), x.limit.Token())
	})
}

// vague reports whether an explanation leaves open where periods begin, and
// another with the same numbers does not.
func vague(x explanation, fit []explanation) bool {
	return x.family.contract == scenarios.FixedWindow && x.family.align == "" && slices.ContainsFunc(fit, func(o explanation) bool {
		return o.family.contract == x.family.contract && o.limit.Rate == x.limit.Rate
	})
}

// order is the families, those of the promised contract before the others.
func (d *diagnosis) order() (all []family) {
	promised := d.promised()
	var others []family
	for _, f := range families() {
		if f.contract == promised {
			all = append(all, f)
		} else {
			others = append(others, f)
		}
	}
	// As it is promised: at an epoch that is known, each key's own, or of a kind
	// that is no rate.
	if f := (family{promised, d.limit().Align}); f.tried() && !slices.Contains(all, f) {
		all = append(all, f)
	}
	return append(all, others...)
}

// promised is the contract of the broken limit, by the name it is tried under.
func (d *diagnosis) promised() scenarios.Contract {
	switch c := d.limit().Contract; c {
	case "", scenarios.GCRA, scenarios.Nginx, scenarios.BestEffort:
		return scenarios.TokenBucket
	default:
		return c
	}
}

// holds reports whether an explanation found on a part of the record stands up
// to all that was kept of it.
func (d *diagnosis) holds(x explanation) bool {
	limits := d.with(x.limit)
	c := newCourt(d.whole.scene, limits)
	for _, t := range c.all[d.i] {
		if t.name == x.by.theory {
			if x.by.at != nil {
				t = &theory{name: t.name, make: x.by.at(x.by.lo, x.by.hi)}
			}
			c.all[d.i] = []*theory{t}
			break
		}
	}
	return !d.whole.play(c, d.all(), d.i)
}

// settles looks for another phase where the one that was found on a part of the
// record does not stand up to all of it. It is not done on long records, where
// it would take too long.
func (d *diagnosis) settles(x *explanation) (ok bool) {
	if x.by.at == nil || len(d.whole.hits) > 2*causeHits {
		return false
	}
	limits := d.with(x.limit)
	for _, t := range newCourt(d.whole.scene, limits).all[d.i] {
		for _, p := range t.phased {
			if lo, hi, some := d.whole.explained(d.all(), limits, d.i, p); some {
				x.by.lo, x.by.hi, x.by.at = lo, hi, p.at
				x.waits = d.agrees(*x, x.by.middle())
				return true
			}
		}
	}
	return false
}

// all are the moments of all that was kept of the record.
func (d *diagnosis) all() []moment {
	if d.every == nil {
		d.every = d.whole.moments()
	}
	return d.every
}

// held is how many requests the explanations were held against.
func (d *diagnosis) held() (n int64) {
	for i := range d.whole.hits {
		if h := &d.whole.hits[i]; !d.whole.full || h.to < d.whole.until {
			n++
		}
	}
	return n
}
