package assertions

import (
	"math/rand/v2"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

// bruteGrid asks of every whole phase whether a limiter with that grid can have
// given the record, by trying all moments of decision of a small history, in
// all orders that they allow.
func bruteGrid(h []brief, window, limit, phase int64) bool {
	return anyMoments(h, func(at []int64) bool { return replayGrid(h, window, limit, phase, at) })
}

// replayGrid checks one choice of moments. Within a moment the best order is
// tried: admissions and unknown ones, which may or may not have spent, before
// refusals where that helps them. A refusal needs a window that is too full; an
// admission one that is not.
func replayGrid(h []brief, window, limit, phase int64, at []int64) bool {
	// At equal moments any order is possible: refusals may come last, which is
	// when the window is fullest. Unknown ones may spend or not: try both.
	var unknown []int
	for i, x := range h {
		if x.outcome == results.Unknown {
			unknown = append(unknown, i)
		}
	}
	for mask := range 1 << len(unknown) {
		spends := map[int]bool{}
		for b, i := range unknown {
			spends[i] = mask>>b&1 == 1
		}
		if explains(h, window, limit, phase, at, spends) {
			return true
		}
	}
	return false
}

func explains(h []brief, window, limit, phase int64, at []int64, spends map[int]bool) bool {
	used := map[int64]int64{} // by window
	inWindow := func(d int64) int64 { return (d - phase + 1000*window) / window }
	for i, x := range h {
		if x.outcome == results.Admitted || spends[i] {
			w := inWindow(at[i])
			if used[w] += x.cost; used[w] > limit {
				return false
			}
		}
	}
	for i, x := range h {
		if x.outcome != results.Limited {
			continue
		}
		var before int64 // spent in its window by its moment
		for j, y := range h {
			if (y.outcome == results.Admitted || spends[j]) && at[j] <= at[i] && inWindow(at[j]) == inWindow(at[i]) {
				before += y.cost
			}
		}
		if before+x.cost <= limit {
			return false
		}
	}
	return true
}

// The grid must never take out a phase that explains the record.
func TestGridKeepsEveryPossiblePhase(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	taken, phases := 0, 0
	for n := range histories {
		window, limit := int64(3+rng.IntN(6)), int64(1+rng.IntN(3))
		h := make([]brief, 1+rng.IntN(5))
		at := int64(0)
		for i := range h {
			at += int64(rng.IntN(4))
			h[i] = brief{from: at, to: at + int64(rng.IntN(3)), cost: 1, outcome: results.Outcome(rng.IntN(3))}
			if rng.IntN(3) == 0 {
				h[i].outcome = results.Admitted
			}
		}
		m := play(h)
		g, k := newGrid(window, limit, 0, 0), &gridKey{}
		for _, e := range m {
			b := h[e.i]
			switch e.rank {
			case 0:
				k.spend(b.cost)
			case 2:
				g.refused(k, b.from, e.at, b.cost, int64(e.i))
			case 3:
				admitted := b.cost
				if b.outcome != results.Admitted {
					admitted = 0
				}
				g.spent(k, b.from, e.at, b.cost, admitted, int64(e.i))
			}
		}
		for phase := range window {
			phases++
			if g.bad.has(phase) {
				taken++
				if bruteGrid(h, window, limit, phase) {
					t.Fatalf("history %d %+v, %d in %d: phase %d was taken out, and it explains the record; %+v", n, h, limit, window, phase, g.bad)
				}
			}
		}
	}
	t.Logf("%d of %d phases taken out", taken, phases)
	if taken < phases/20 {
		t.Errorf("only %d of %d phases were taken out", taken, phases)
	}
}
