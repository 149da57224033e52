package assertions

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// What a 'kept' rests on is true, of one limit and of each of several: a server of which
// one limit has another size that is told to have been seen, or a rate that is wrong by
// half as much again as what is told, is broken by the same requests. HAMMER_SEEDS is
// how many seeds are tried.
func TestSightIsTrue(t *testing.T) {
	seeds, all := uint64(1), pairs()[:2]
	if n, err := strconv.ParseUint(os.Getenv("HAMMER_SEEDS"), 10, 32); err == nil {
		seeds, all = n, pairs()
	}
	for _, text := range []string{"token-bucket{burst=5,rate=5/1s}", "lumps{burst=10,rate=5/1s}", "sliding-log{rate=20/15s}", "fixed-window{rate=20/15s,align=first-hit}", "fixed-window{rate=20/15s,align=start}", "sliding-counter{rate=20/15s}"} {
		all = append(all, []scenarios.Limit{declared(algorithm(t, text).Promise())})
	}
	net := nearAndFar()[0]
	told, untrue := 0, 0
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
				for what, wrong := range caughtBeside(limits[i], r) {
					claims++
					really := slices.Clone(limits)
					really[i] = wrong
					if v := judge(really, Options{NoResolution: true}); v.Status != results.Broken {
						untrue++
						t.Logf("pair %d, seed %d: of %s it is told that %s would have been caught, and %v was not: %v %s", p, seed, limits[i].Name, what, wrong, v.Status, v.Headline)
					}
				}
			}
			told += claims
			if claims < 4 {
				t.Errorf("pair %d, seed %d: %d errors are told that would have been caught, want some", p, seed, claims)
			}
		}
	}
	t.Logf("%d errors were told, of which %d would not have been caught", told, untrue)
	if untrue*50 > told {
		t.Errorf("%d of %d errors that were told would not have been caught, want at most one in 50", untrue, told)
	}
}

// caughtBeside are the limits that would have been told from the right one.
func caughtBeside(l scenarios.Limit, r results.Resolution) map[string]scenarios.Limit {
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
			off := (*perSecond - promised) / promised * 1.5 // the smallest is seen by a single moment, and the moments of another server fall otherwise
			o := l
			o.Rate.Per = time.Duration(float64(l.Rate.Per) / (1 + off))
			all[what] = o
		}
	}
	return all
}
