package main

import (
	"context"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/reduction"
)

// shrinker looks for a small scenario that breaks a promise, by firing candidates.
type shrinker struct {
	charge charge
	keys   scenarios.Supply
	fire   func(ctx context.Context, s *scenarios.Scenario) (trialRun, error)
	now    func() time.Time
	say    func(format string, args ...any)

	until time.Time // nothing is fired after it
	most  int       // requests that may be sent in all
	rule  rule      // what a candidate has to do
	later rule      // what it has to do once it was seen that chance decides
	luck  bool      // that was seen
	spare int       // how many more firings of a candidate there have to be time and requests for

	shown      []*scenarios.Scenario // those that broke it, the smallest last
	sent       int                   // requests so far
	candidates int
	err        error // that ended it
}

// rule is how often a candidate has to break the promise, in how many tries at most.
type rule struct{ need, of int }

// trialRun is what one firing of a candidate came to.
type trialRun struct {
	requests int
	verdict  results.Verdict
}

// shows fires a candidate until it has broken the promise often enough, or cannot any
// more.
func (k *shrinker) shows(ctx context.Context, s *scenarios.Scenario) (shows, more bool) {
	k.candidates++
	broke, tries, r := 0, 0, k.rule
	for broke < r.need && r.need-broke <= r.of-tries {
		yes, ok := k.once(ctx, s)
		if !ok {
			return false, false
		}
		tries++
		if yes {
			broke++
		}
		if k.luck = k.luck || broke > 0 && broke < tries; k.luck && r.need > 1 {
			r = k.later
		}
	}
	if broke < r.need {
		return false, true
	}
	k.shown = append(k.shown, s)
	size, _ := reduction.SizeOf(s, k.keys)
	k.say("%d requests in %v break it (candidate %d)", size.Requests, size.Length.Round(time.Millisecond), k.candidates)
	return true, true
}

// once fires a candidate once; ok is false when there is no time or no request left
// for it.
func (k *shrinker) once(ctx context.Context, s *scenarios.Scenario) (broke, ok bool) {
	size, _ := reduction.SizeOf(s, k.keys)
	firings := 1 + k.spare
	if k.err != nil || ctx.Err() != nil || k.sent+firings*size.Requests > k.most || k.now().Add(time.Duration(firings)*size.Length).After(k.until) {
		return false, false
	}
	run, err := k.fire(ctx, s)
	k.sent += run.requests
	if err != nil {
		k.err = err
		return false, false
	}
	_, broke = k.charge.in(run.verdict.Findings)
	return broke, true
}

// shrink gives the smallest scenario found, and how often in how many tries it broke
// the promise at the end. It is nil where none of the suspects did.
func (k *shrinker) shrink(ctx context.Context, suspects []*scenarios.Scenario) (found *scenarios.Scenario, broke, tries int) {
	asks := func(s *scenarios.Scenario) (bool, bool) { return k.shows(ctx, s) }
	// What breaks by chance is asked of more often, when nothing breaks as a rule.
	k.later = rule{3, finalTries}
	for _, k.rule = range []rule{{2, 3}, {1, finalTries}} {
		found = reduction.First(suspects, k.keys, asks)
		if found != nil || k.err != nil {
			break
		}
	}
	if found == nil {
		return nil, 0, 0
	}
	// Of many candidates that break it now and then some would be lucky.
	k.luck, k.later, k.spare = false, rule{4, finalTries}, finalTries
	reduction.Reduce(found, k.keys, asks)
	k.spare = 0
	return k.reliable(ctx)
}

// reliable is the smallest of the scenarios that broke the promise which still does so
// in most of some more tries; the largest, where none does.
func (k *shrinker) reliable(ctx context.Context) (found *scenarios.Scenario, broke, tries int) {
	for _, found = range slices.Backward(k.shown) {
		broke, tries = 0, 0
		for range finalTries {
			yes, ok := k.once(ctx, found)
			if !ok {
				return found, broke, tries
			}
			tries++
			if yes {
				broke++
			}
		}
		if 2*broke > tries {
			break
		}
	}
	return found, broke, tries
}

// finalTries are fired of what was found, to say how reliably it breaks.
const finalTries = 5
