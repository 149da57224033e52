package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// diagnoseFor is how long the follow-ups of a breach may take where nothing was said.
const diagnoseFor = 30 * time.Second

// addDiagnoseFlag is for the commands that fire.
func (s *saving) addDiagnoseFlag(f *pflag.FlagSet) {
	f.DurationVar(&s.diagnoseFor, "diagnose-for", diagnoseFor, "how long the experiments may take that tell apart what a breach comes from; 0: none are fired")
}

// followUps are what is fired after a breach, and the verdict that stood before.
type followUps struct {
	session  *session
	tee      *tee
	progress *probes.Progress
	begun    time.Time        // the run's start
	stop     func()           // ends the display of the run's progress
	verdict  *results.Verdict // on the run; nil: it was stopped before its end
	run      *results.Run     // what it says of itself
	fired    bool
}

// followed is the limit that follow-ups are fitted to, the largest as in the standard
// scenario, and by what means: nothing is asked where things were done to the server,
// which would have to be done again.
func (s *session) followed() (l scenarios.Limit, means library.Means, ok bool) {
	if s.saving.undiagnosed || s.saving.failFast || s.saving.diagnoseFor <= 0 || len(s.scenario.Limits) == 0 || len(s.scenario.Actions) > 0 {
		return l, means, false
	}
	most := slices.MaxFunc(s.scenario.Limits, func(a, b scenarios.Limit) int { return cmp.Compare(a.Size(), b.Size()) })
	return most, library.Means{Requests: s.most - s.plan.Most(), Length: s.saving.diagnoseFor}, true
}

// circumstances are those of the follow-ups.
func (s *session) circumstances() library.Circumstances {
	c := library.Circumstances{RTT: s.rtt, Keys: len(s.supply.Given), Wanted: s.scenario.Wanted, Seed: s.scenario.Seed}
	most, _, _ := s.followed()
	for _, l := range s.scenario.Limits {
		if l.Name != most.Name {
			c.Beside = append(c.Beside, l)
		}
	}
	return c
}

// next is what is to be fired behind a run that was fired to its end: if it broke
// the promise, the experiments that tell apart what that may come from.
func (f *followUps) next(run results.Run, now func() time.Duration) (plan scenarios.Plan, ok bool) {
	v := f.tee.conclude(&run)
	f.verdict, f.run = &v, &run
	s := f.session
	limit, means, may := s.followed()
	if v.Status != results.Broken || !may {
		return plan, false
	}
	after := library.After(limit, s.circumstances(), assertions.Suspect(v, limit, chain(s.scenario.Phases, s.plan, v)), means)
	s.notes = append(s.notes, unasked(after.Left, s.saving.diagnoseFor)...)
	if len(after.Phases) == 0 {
		return plan, false
	}
	// What is fired is said before, and the moment it begins at is known to all.
	begin := (now() + 200*time.Millisecond).Round(time.Millisecond)
	scenario := s.scenario.FollowedBy(after.Phases, begin)
	plan, err := scenario.Plan(s.supply.Supply)
	if err != nil {
		s.notes = append(s.notes, fmt.Sprintf("nothing was fired to find the cause: %v", err))
		return plan, false
	}
	asked := len(s.scenario.Phases)
	s.scenario, s.plan = scenario, plan
	f.fired = true
	f.stop()
	s.console.sayf("BROKEN already: %s", v.Headline)
	s.console.sayf("to find what it comes from, up to %d requests more within %v: %s", after.Price.Requests, after.Price.Length.Round(100*time.Millisecond), strings.Join(after.Says, ", "))
	later := plan.FollowUps(asked)
	f.stop = f.tee.viewer.show(later, f.progress, f.begun)
	return later, true
}

// chain is the phases in which the promise was broken first: those of the key,
// which are on keys of the phase that it is named after, each with the time from
// the first one's beginning to its own as its rest.
func chain(phases []scenarios.Phase, plan scenarios.Plan, v results.Verdict) (same []scenarios.Phase) {
	i := slices.IndexFunc(v.Findings, func(f results.Finding) bool {
		return f.Status == results.Broken && f.Level == results.Must && f.Key != ""
	})
	if i < 0 {
		return nil
	}
	root, _, _ := strings.Cut(v.Findings[i].Key, "/")
	var first int64
	for n, p := range phases {
		at, fires := begins(plan, int32(n))
		if !fires || p.Name != root && p.Keys.Of != root {
			continue
		}
		if len(same) == 0 {
			first = at
		}
		p.Rest = time.Duration(at - first)
		same = append(same, p)
	}
	return same
}

// begins is when a phase fires first; ok is false where it never does.
func begins(plan scenarios.Plan, phase int32) (at int64, ok bool) {
	if s, ok := plan.Shots.Of(func(p int32) bool { return p == phase }).First(); ok {
		return s.At, true
	}
	for _, a := range plan.Attacks {
		if a.Phase == phase {
			return a.At, true
		}
	}
	for _, s := range plan.Floods {
		if s.Phase == phase {
			return s.At, true
		}
	}
	return 0, false
}

// unasked says what the follow-ups had to leave open.
func unasked(left []library.Omission, most time.Duration) (notes []string) {
	for _, o := range left {
		if o.Needs > 0 {
			notes = append(notes, fmt.Sprintf("not asked after the breach for lack of time: %s; so not known is %s; it needs --diagnose-for %v (now %v)", o.Track, o.Loses, o.Needs.Round(time.Second)+time.Second, most))
			continue
		}
		notes = append(notes, fmt.Sprintf("not asked after the breach for lack of %s: %s; so not known is %s", o.Why, o.Track, o.Loses))
	}
	return notes
}
