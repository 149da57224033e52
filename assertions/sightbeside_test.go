package assertions

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// What a 'kept' rests on is true of each of several limits: a server of which one limit
// has another size that is told to have been seen, or a rate that is wrong by what was
// asked for, is broken by the same requests, whichever the limit is. HAMMER_SEEDS is how many seeds are tried.
func TestSightOfEachOfSeveralLimitsIsTrue(t *testing.T) {
	seeds, all := uint64(1), pairs()[:2]
	if n, err := strconv.ParseUint(os.Getenv("HAMMER_SEEDS"), 10, 32); err == nil {
		seeds, all = n, pairs()
	}
	net := nearAndFar()[0]
	for p, limits := range all {
		for seed := range seeds {
			sc, most, _ := asksAll(limits, net, seed)
			plan, err := sc.Plan(scenarios.Supply{})
			if err != nil {
				t.Fatal(err)
			}
			judge := func(really []scenarios.Limit, opts Options) results.Verdict {
				opts.Fresh, opts.Wanted, opts.NoCauses = true, sc.Wanted, true
				j, err := New(limits, opts)
				if err != nil {
					t.Fatal(err)
				}
				run := results.Run{}
				for _, b := range fired(plan, most, layeredOf(t, really, rand.New(rand.NewPCG(seed, 5))), net, seed) {
					run.Sent += int64(len(b.Hits))
					j.Block(b)
				}
				run.Planned = run.Sent
				return j.Verdict(&run)
			}
			right := judge(limits, Options{})
			if right.Status == results.Broken {
				t.Fatalf("pair %d, seed %d: right limits were accused: %q", p, seed, broken(right))
			}
			claims := 0
			for i, r := range right.Resolutions {
				for what, wrong := range caughtBeside(limits[i], r, sc.Wanted) {
					claims++
					really := slices.Clone(limits)
					really[i] = wrong
					if v := judge(really, Options{NoResolution: true}); v.Status != results.Broken {
						t.Errorf("pair %d, seed %d: of %s it is told that %s would have been caught, and %v was not: %v %s", p, seed, limits[i].Name, what, wrong, v.Status, v.Headline)
					}
				}
			}
			if claims < 4 {
				t.Errorf("pair %d, seed %d: %d errors are told that would have been caught, want some", p, seed, claims)
			}
		}
	}
}

// caughtBeside are the limits that would have been told from the right one.
func caughtBeside(l scenarios.Limit, r results.Resolution, wanted int64) map[string]scenarios.Limit {
	all := map[string]scenarios.Limit{}
	for what, n := range map[string]*int64{"a smaller size": r.BurstLow, "a larger size": r.BurstHigh} {
		if n != nil {
			o := l
			*sizeOf(&o) = *n
			all[what] = o
		}
	}
	for what, perSecond := range map[string]*float64{"a slower rate": r.RateLow, "a faster rate": r.RateHigh} {
		if promised := l.Rate.PerSecond(); perSecond != nil && *perSecond > 0 {
			off := max(math.Abs(*perSecond-promised)/promised, float64(wanted)/1e6)
			if *perSecond < promised {
				off = -off
			}
			o := l
			o.Rate.Per = time.Duration(float64(l.Rate.Per) / (1 + off))
			all[what] = o
		}
	}
	return all
}
