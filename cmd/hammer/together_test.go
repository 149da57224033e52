package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// ms is so many milliseconds of a run.
func ms(n int64) int64 { return n * int64(time.Millisecond) }

func bucketOf(burst, rate int64, phases ...string) *scenarios.Scenario {
	s := &scenarios.Scenario{Limits: []scenarios.Limit{{Burst: burst, Rate: scenarios.Rate{Count: rate, Per: time.Second}}}}
	for _, p := range phases {
		s.Phases = append(s.Phases, scenarios.Phase{Name: p})
	}
	return s
}

// sentIn is a run of one key: of each phase the requests that were due at one moment.
type sentIn struct {
	phase         string
	due, sent     int64 // milliseconds
	took          int64 // until the answers came, milliseconds
	admitted, not int
}

func runOf(all ...sentIn) counted {
	c := newCounted()
	for _, s := range all {
		for i := range s.admitted + s.not {
			o := results.Admitted
			if i >= s.admitted {
				o = results.Limited
			}
			c.add(&results.Hit{Key: "k/1", Planned: ms(s.due), Sent: ms(s.sent), First: ms(s.sent + s.took), Done: ms(s.sent + s.took), Outcome: o}, s.phase, true)
		}
	}
	return c
}

// Phases whose requests were under way at the same time are counted together: which
// of them got the tokens is chance. What lies apart is counted apart.
func TestOverlappingPhasesAreCountedTogether(t *testing.T) {
	tests := []struct {
		name            string
		base, candidate counted
		want            bool
		phase           string // of the first difference
	}{
		{"the tokens fell to the other phase",
			runOf(sentIn{"drain", 0, 0, 55, 7, 5}, sentIn{"crush", 50, 50, 50, 3, 17}),
			runOf(sentIn{"drain", 0, 0, 55, 0, 12}, sentIn{"crush", 50, 50, 50, 10, 10}), false, ""},
		{"they overlapped in one run alone",
			runOf(sentIn{"drain", 0, 0, 1, 10, 2}, sentIn{"crush", 50, 50, 1, 0, 20}),
			runOf(sentIn{"drain", 0, 60, 30, 2, 10}, sentIn{"crush", 50, 50, 50, 8, 12}), false, ""},
		{"both together admit twice as many",
			runOf(sentIn{"drain", 0, 0, 55, 7, 5}, sentIn{"crush", 50, 50, 50, 3, 17}),
			runOf(sentIn{"drain", 0, 0, 55, 10, 2}, sentIn{"crush", 50, 50, 50, 10, 10}), true, "drain + crush"},
		{"they did not overlap",
			runOf(sentIn{"drain", 0, 0, 1, 7, 5}, sentIn{"crush", 50, 50, 1, 3, 17}),
			runOf(sentIn{"drain", 0, 0, 1, 0, 12}, sentIn{"crush", 50, 50, 1, 10, 10}), true, "drain"},
		{"late by what brings two", // 5/s x 500 ms = 2.5: two, and the one of a decision
			runOf(sentIn{"drain", 0, 0, 1, 10, 2}, sentIn{"crush", 5000, 5000, 1, 4, 17}),
			runOf(sentIn{"drain", 0, 0, 1, 10, 2}, sentIn{"crush", 5000, 5500, 1, 7, 14}), false, "crush"},
		{"more than that",
			runOf(sentIn{"drain", 0, 0, 1, 10, 2}, sentIn{"crush", 5000, 5000, 1, 2, 17}),
			runOf(sentIn{"drain", 0, 0, 1, 10, 2}, sentIn{"crush", 5000, 5500, 1, 7, 14}), true, "crush"},
		{"two more on a fresh key",
			runOf(sentIn{"drain", 0, 0, 1, 10, 2}), runOf(sentIn{"drain", 0, 0, 1, 12, 0}), true, "drain"},
	}
	for _, tt := range tests {
		all, slips := differences(tt.base, tt.candidate, bucketOf(10, 5, "drain", "crush"))
		got, why := countVerdict(all, slips, 1)
		if got != tt.want {
			t.Errorf("%s: got %v (%s), want %v: %+v", tt.name, got, why, tt.want, all)
		}
		if tt.phase == "" && len(all) > 0 || tt.phase != "" && (len(all) == 0 || all[0].Phase != tt.phase) {
			t.Errorf("%s: got %+v, want %q first", tt.name, all, tt.phase)
		}
	}
}

// What follows on an attack finds what it left, and that is not the plan's doing.
func TestWhatFollowsAnAttackIsNotJudged(t *testing.T) {
	s := bucketOf(10, 5, "attack", "after")
	s.Phases[0].Attack = scenarios.TacticBoundary
	if !s.Phases[0].Adaptive() {
		t.Fatal("the phase is not adaptive")
	}
	all, slips := differences(runOf(sentIn{"attack", 0, 0, 1, 10, 2}, sentIn{"after", 500, 500, 1, 2, 9}),
		runOf(sentIn{"attack", 0, 0, 1, 4, 2}, sentIn{"after", 500, 500, 1, 8, 3}), s)
	if differs, why := countVerdict(all, slips, 1); differs || len(all) == 0 {
		t.Errorf("got %v (%s) of %+v, want them shown and not judged", differs, why, all)
	}
}

// Limits that count several keys together leave the place of a token among them open.
func TestKeysOfOneBudgetAreCountedTogether(t *testing.T) {
	s := bucketOf(10, 5, "drain")
	s.Limits = append(s.Limits, s.Limits[0])
	s.Limits[0].Key = scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}
	run := func(first, second int) counted {
		c := newCounted()
		for key, admitted := range map[string]int{"k/1": first, "k/2": second} {
			for i := range 12 {
				o := results.Limited
				if i < admitted {
					o = results.Admitted
				}
				c.add(&results.Hit{Key: key, First: ms(5), Done: ms(5), Outcome: o}, "drain", true)
			}
		}
		return c
	}
	tests := []struct {
		first, second int
		want          bool
	}{{8, 2, false}, {10, 0, false}, {2, 8, false}, {3, 9, false}, {10, 8, true}, {2, 2, true}} // one on each of two keys may differ
	for _, tt := range tests {
		all, slips := differences(run(2, 8), run(tt.first, tt.second), s)
		if differs, why := countVerdict(all, slips, 1); differs != tt.want {
			t.Errorf("2 and 8 against %d and %d: got %v (%s), want %v: %+v", tt.first, tt.second, differs, why, tt.want, all)
		}
	}
}

// budget is a bucket, or windows of the same numbers since a key's first request, in
// nanotokens.
type budget struct {
	burst, rate int64 // tokens, and tokens a second
	window      bool  // counts anew after burst/rate
}

func (l budget) admits(at []int64) (admitted []bool) {
	level, last := l.burst*int64(time.Second), int64(math.MinInt64)
	for _, now := range at {
		if last == math.MinInt64 {
			last = now
		}
		if !l.window {
			level, last = min(level+(now-last)*l.rate, l.burst*int64(time.Second)), now
		} else if now-last >= l.burst*int64(time.Second)/l.rate {
			level, last = l.burst*int64(time.Second), now
		}
		ok := level >= int64(time.Second)
		if ok {
			level -= int64(time.Second)
		}
		admitted = append(admitted, ok)
	}
	return admitted
}

// fired is a run in virtual time of 24 keys: a volley, a second one at once behind it,
// and polls. Each request is sent late and decided at some moment before its answer.
func fired(l budget, seed uint64, late, flight int64) counted {
	rng := rand.New(rand.NewPCG(seed, 7))
	c := newCounted()
	for key := range 24 {
		type shot struct {
			hit   results.Hit
			phase string
			at    int64
		}
		var shots []shot
		put := func(phase string, due int64, n int) {
			for range n {
				sent := due + rng.Int64N(late+1)
				at := sent + rng.Int64N(flight+1)
				end := at + rng.Int64N(flight+1)
				shots = append(shots, shot{results.Hit{Key: fmt.Sprint(key), Planned: due, Sent: sent, First: end, Done: end}, phase, at})
			}
		}
		put("before", 0, 13)
		put("crush", ms(40), 13)
		for i := range int64(150) {
			put("polls", ms(1000+20*i), 1)
		}
		slices.SortStableFunc(shots, func(a, b shot) int { return cmp.Compare(a.at, b.at) })
		at := make([]int64, len(shots))
		for i := range shots {
			at[i] = shots[i].at
		}
		for i, ok := range l.admits(at) {
			shots[i].hit.Outcome = results.Limited
			if ok {
				shots[i].hit.Outcome = results.Admitted
			}
			c.add(&shots[i].hit, shots[i].phase, true)
		}
	}
	return c
}

// A right limiter is not told from itself, however late one of two runs was; one that
// is another is, where the machine is not so busy that it could be the same.
func TestCountsOfABusyMachine(t *testing.T) {
	const pairs = 5
	right := budget{burst: 10, rate: 5}
	s := bucketOf(10, 5, "before", "crush", "polls")
	differ := func(other budget, late, flight int64) (n int, last string) {
		for seed := range uint64(pairs) {
			all, slips := differences(fired(right, 2*seed, ms(1), ms(1)), fired(other, 2*seed+1, late, flight), s)
			if differs, why := countVerdict(all, slips, 1); differs {
				n, last = n+1, why
			}
		}
		return n, last
	}
	for _, busy := range []int64{0, 1, 10, 50, 200, 600} {
		if n, why := differ(right, ms(busy), ms(busy)); n > 0 {
			t.Errorf("late by up to %d ms: %d of %d pairs of a right limiter were told apart: %s", busy, n, pairs, why)
		}
	}
	for _, other := range []budget{{burst: 11, rate: 5}, {burst: 9, rate: 5}, {burst: 10, rate: 6}, {burst: 10, rate: 4}, {burst: 20, rate: 5}, {burst: 20, rate: 10, window: true}} {
		for _, busy := range []int64{0, 5} {
			if n, _ := differ(other, ms(busy), ms(busy)); n < pairs {
				t.Errorf("late by up to %d ms: %+v was seen in %d of %d pairs", busy, other, n, pairs)
			}
		}
	}
}
