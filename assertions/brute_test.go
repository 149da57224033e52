package assertions

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

// A small history with everything that makes one hard: heavy-tailed delays,
// costs, refusals and unknown outcomes, and many equal times.
func randomHistory(rng *rand.Rand, most int) []brief {
	h := make([]brief, 1+rng.IntN(most))
	t := int64(0)
	for i := range h {
		t += int64(rng.IntN(4))
		delay := int64(rng.IntN(4))
		if rng.IntN(5) == 0 {
			delay = int64(rng.IntN(40))
		}
		h[i] = brief{from: t, to: t + delay, cost: int64(1 + rng.IntN(3)), outcome: results.Outcome(rng.IntN(3))}
		if rng.IntN(3) > 0 {
			h[i].cost = 1
		}
	}
	return h
}

func randomTempo(rng *rand.Rand) tempo {
	return tempo{num: int64(1 + rng.IntN(5)), den: int64(1 + rng.IntN(9))}
}

// anyMoments reports whether some choice of a moment for each request, within its
// interval, is one that explains says yes to.
func anyMoments(h []brief, explains func(at []int64) bool) bool {
	at := make([]int64, len(h))
	var choose func(i int) bool
	choose = func(i int) bool {
		if i == len(h) {
			return explains(at)
		}
		for d := h[i].from; d <= h[i].to; d++ {
			at[i] = d
			if choose(i + 1) {
				return true
			}
		}
		return false
	}
	return choose(0)
}

// play is the moments of a history in the order of the sweep.
func play(h []brief) []moment {
	s := &sample{}
	for _, b := range h {
		s.hits = append(s.hits, sampled{brief: b})
	}
	return s.moments()
}

// bruteLoad tries every window from a start to the end of an admission.
func bruteLoad(p tempo, h []brief) (best int64, a, c int64, any bool) {
	for _, end := range h {
		if end.outcome != results.Admitted {
			continue
		}
		for _, start := range h {
			if start.from > end.to {
				continue
			}
			load := windowLoad(p, h, start.from, end.to)
			if !any || load > best {
				best, a, c, any = load, start.from, end.to, true
			}
		}
	}
	return best, a, c, any
}

func windowLoad(p tempo, h []brief, a, c int64) int64 {
	load := -p.num * (c - a)
	for _, x := range h {
		if x.outcome == results.Admitted && x.from >= a && x.to <= c {
			load += x.cost * p.den
		}
	}
	return load
}

func TestStaircaseAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	most := 0
	for n := range 300_000 {
		h, p := randomHistory(rng, 9), randomTempo(rng)
		m := play(h)
		want, _, _, wantAny := bruteLoad(p, h)
		s := staircase{tempo: p}
		inFlight := 0
		for _, e := range m {
			b := h[e.i]
			if e.rank < 2 {
				s.start(e.at)
				inFlight++
			} else {
				cost := b.cost
				if b.outcome != results.Admitted {
					cost = 0
				}
				s.end(b.from, e.at, cost)
				inFlight--
			}
			if len(s.steps) > inFlight+1 {
				t.Fatalf("history %d: %d steps with %d in flight, want one more at most", n, len(s.steps), inFlight)
			}
			most = max(most, len(s.steps))
		}
		if s.any != wantAny || s.any && s.load != want {
			t.Fatalf("history %d %+v at %+v: load %d (%v), brute force %d (%v)", n, h, p, s.load, s.any, want, wantAny)
		}
		if got := windowLoad(p, h, s.from, s.to); s.any && got != s.load {
			t.Fatalf("history %d: the witness [%d, %d] holds %d, claimed %d", n, s.from, s.to, got, s.load)
		}
	}
	if most < 3 {
		t.Errorf("the staircase never had more than %d steps: the histories are too simple", most)
	}
}

// bruteLeast is the least level at d by its definition: over all a up to d, in
// which only starts of spenders, ends of spenders and the beginning matter, and
// d itself.
func bruteLeast(p tempo, burst int64, h []brief, d int64) int64 {
	starts := []int64{d, 0}
	for _, x := range h {
		if x.outcome == results.Limited {
			continue
		}
		for _, a := range []int64{x.from, x.to} {
			if a <= d {
				starts = append(starts, a)
			}
		}
	}
	best := int64(1) << 60
	for _, a := range starts {
		level := burst*p.den + p.num*(d-a)
		for _, x := range h {
			if x.outcome != results.Limited && x.from <= d && x.to >= a {
				level -= x.cost * p.den
			}
		}
		best = min(best, level)
	}
	return best
}

func TestPessimistAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	wrong, refusals := 0, 0
	for n := range 300_000 {
		h, p := randomHistory(rng, 9), randomTempo(rng)
		burst := int64(1 + rng.IntN(5))
		m := play(h)
		x := newPessimist(p, burst, 0, true, 0)
		for _, e := range m {
			b := h[e.i]
			switch e.rank {
			case 0:
				x.spend(e.at, b.cost)
			case 1:
				x.refuse(e.at)
			case 3:
				x.spent(e.at, b.cost)
			case 2:
				got := x.refused(b.from, e.at)
				want := int64(1) << 60
				for d := b.from; d <= b.to; d++ {
					want = min(want, bruteLeast(p, burst, h, d))
				}
				if got.level != want {
					t.Fatalf("history %d %+v at %+v burst %d: refusal %+v least %d, brute force %d", n, h, p, burst, b, got.level, want)
				}
				if at := bruteLeast(p, burst, h, got.at); at != got.level {
					t.Fatalf("history %d: the witness at %d has %d, claimed %d", n, got.at, at, got.level)
				}
				refusals++
				if want >= b.cost*p.den {
					wrong++
				}
			}
		}
	}
	if wrong < refusals/10 || wrong > refusals*9/10 {
		t.Errorf("%d of %d refusals were wrong: the histories do not try both sides", wrong, refusals)
	}
}

func TestSweepKeepsTheOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		h := randomHistory(rng, 30)
		hits := make([]results.Hit, len(h))
		for i, b := range h {
			hits[i] = results.Hit{Seq: int64(i + 1), Sent: b.from, First: b.to, Done: b.to, Cost: b.cost, Outcome: b.outcome}
		}
		slices.SortFunc(hits, func(a, b results.Hit) int { return int(a.Done - b.Done) })
		s := newSweep(1, 0, 0, 0)
		var got []moment
		take := func(events []event) {
			for _, e := range events {
				rank := int8(0)
				switch {
				case e.kind == starts && !e.f.spends():
					rank = 1
				case e.kind == ends && !e.f.spends():
					rank = 2
				case e.kind == ends:
					rank = 3
				}
				got = append(got, moment{e.at, rank, int32(e.f.hit.Seq - 1)})
			}
		}
		for i := range hits { // a block a hit, and as low as is true
			low := hits[i].Sent
			for _, later := range hits[i+1:] {
				low = min(low, later.Sent)
			}
			take(s.block(results.Block{Hits: hits[i : i+1], Low: low}))
		}
		take(s.close())
		want := play(h)
		if len(got) != len(want) {
			t.Fatalf("got %d events, want %d", len(got), len(want))
		}
		for i := range want {
			if got[i].at != want[i].at || got[i].rank != want[i].rank {
				t.Fatalf("event %d: got %+v, want %+v", i, got[i], want[i])
			}
		}
	}
}
