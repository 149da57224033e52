package assertions

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// crowd is a history of requests that overlap as they like, each decided at any
// moment of its interval by a right limiter, which tells what is left, and when
// all of it is there again. off is added to what is left.
func crowd(a limiter.Algorithm, seed uint64, overlap time.Duration, off int64) (hits []results.Hit) {
	rng := rand.New(rand.NewPCG(seed, 11))
	type request struct {
		hit results.Hit
		at  int64
	}
	var all []request
	now := int64(0)
	for i := range 150 {
		now += rng.Int64N(int64(150 * time.Millisecond))
		if rng.IntN(20) == 0 {
			now += rng.Int64N(int64(5 * time.Second))
		}
		h := results.Hit{Seq: int64(i + 1), Key: fmt.Sprint("k", rng.IntN(2)), Cost: 1 + int64(rng.IntN(8)/6), Planned: now, Sent: now, Status: 200}
		long := rng.Int64N(int64(overlap) + 1)
		h.First = h.Sent + long
		h.Done = h.First
		all = append(all, request{h, h.Sent + rng.Int64N(long+1)})
	}
	slices.SortFunc(all, func(a, b request) int { return cmp.Compare(a.at, b.at) })
	states := map[string]limiter.State{}
	for _, r := range all {
		at := day.UnixNano() + r.at
		s := states[r.hit.Key]
		if s == nil {
			s = a.Fresh(at)
			states[r.hit.Key] = s
		}
		d, err := a.Decide(s, at, r.hit.Cost)
		if err != nil {
			continue
		}
		h := r.hit
		if h.Outcome = results.Admitted; !d.Admitted {
			h.Outcome, h.Status = results.Limited, 429
		}
		h.Headers = fmt.Sprintf("x-ratelimit-limit: %d\nx-ratelimit-remaining: %d\nx-ratelimit-reset: %v", d.Limit, d.Remaining+off, d.Reset)
		hits = append(hits, h)
	}
	return hits
}

// A right limiter is not accused however its requests overlap, and one that tells
// a token more is found where they hardly do.
func TestLedgersHoldWhateverOverlaps(t *testing.T) {
	const runs = 60
	for _, text := range []string{"token-bucket{burst=6,rate=3/1s}", "gcra{burst=6,rate=3/1s}", "nginx{rate=3/s,burst=5,nodelay}", "lumps{burst=6,rate=2/1s}", "lumps{burst=6,rate=6/2s}",
		"fixed-window{rate=6/2s}", "fixed-window{rate=6/2s,align=first-hit}", "sliding-log{rate=6/2s}", "sliding-counter{rate=6/2s,test=le}"} {
		a := algorithm(t, text)
		exact, loose := declared(a.Promise()), declared(a.Promise())
		if has, _ := exact.Contract.Numbers(); !has.Burst {
			loose.Contract = scenarios.Quota // any of its algorithms may be behind it
		}
		found := 0
		for seed := range uint64(runs) {
			for _, l := range []scenarios.Limit{exact, loose} {
				for _, overlap := range []time.Duration{0, 20 * time.Millisecond, 600 * time.Millisecond} {
					for _, f := range findingsOn(t, l, crowd(a, seed, overlap, 0)) {
						if f.Status == results.Broken {
							t.Fatalf("%s as %s, seed %d, up to %v: accused: %s", text, l.Contract, seed, overlap, f.Text)
						}
					}
				}
			}
			if findingsOn(t, exact, crowd(a, seed, time.Millisecond, 1))[0].Status == results.Broken {
				found++
			}
		}
		t.Logf("%s: a token too many was found in %d of %d runs", text, found, runs)
		if found < runs*9/10 {
			t.Errorf("%s: a token too many was found in %d of %d runs", text, found, runs)
		}
	}
}

// findingsOn are the findings on what is left and when it comes back.
func findingsOn(t *testing.T, l scenarios.Limit, hits []results.Hit) []results.Finding {
	t.Helper()
	sc := &scene{sweep: newSweep(time.Nanosecond, l.Slack.Quantum, 0, time.Minute), fresh: true}
	left, again := newRemaining(sc, []scenarios.Limit{l}, 0), newReset(sc, []scenarios.Limit{l}, 0, 0)
	hear := func(events []event) {
		left.hear(events)
		again.hear(events)
		left.trim(sc.oldest())
	}
	for _, b := range results.Blocks(hits) {
		hear(sc.block(b))
	}
	hear(sc.close())
	return append(left.tell(), again.tell()...)
}
