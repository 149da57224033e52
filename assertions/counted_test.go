package assertions

import (
	"math/rand/v2"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

// bruteCounted asks whether any moments of decision, in any order, and any fate
// of the unknown requests make a sliding counter on a grid give the record. So
// many halves of its last token count with the estimate, which has to stay below
// the limit, or with all of it may reach it.
func bruteCounted(h []brief, period, limit, phase, halves int64) bool {
	return anyMoments(h, func(at []int64) bool { return countedOrder(h, at, period, limit, phase, halves) })
}

// countedOrder tries the orders of equal moments. A phase below 0 is that of the
// first request that came.
func countedOrder(h []brief, at []int64, period, limit, phase, halves int64) bool {
	order := sortedBy(at)
	counts := map[int64]int64{}
	var try func(i int, phase int64) bool
	try = func(i int, phase int64) bool {
		if i == len(order) {
			return true
		}
		for j := i; j < len(order) && at[order[j]] == at[order[i]]; j++ {
			order[i], order[j] = order[j], order[i]
			x, d := h[order[i]], at[order[i]]
			from := phase
			if from < 0 {
				from = d
			}
			w := floorDiv(d-from, period)
			elapsed := d - from - w*period
			with := 2*counts[w-1]*(period-elapsed) + (2*counts[w]+2*(x.cost-1)+halves)*period
			fits := with < 2*limit*period || with == 2*limit*period && halves == 2
			ok := false
			if fits && x.outcome != results.Limited {
				counts[w] += x.cost
				ok = try(i+1, from)
				counts[w] -= x.cost
			}
			ok = ok || !fits && x.outcome != results.Admitted && try(i+1, from) || x.outcome == results.Unknown && try(i+1, phase)
			order[i], order[j] = order[j], order[i]
			if ok {
				return true
			}
		}
		return false
	}
	return try(0, phase)
}

func TestCountersNeverAccuseWrongly(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	accused, impossible := 0, 0
	for n := range histories {
		halves := rng.Int64N(3)
		period, limit := int64(2+rng.IntN(7)), int64(1+rng.IntN(4))
		phase := rng.Int64N(period)
		h := make([]brief, 1+rng.IntN(5))
		at := int64(0)
		for i := range h {
			at += int64(rng.IntN(4))
			h[i] = brief{from: at, to: at + int64(rng.IntN(3)), cost: 1, seq: int64(i + 1), outcome: results.Outcome(rng.IntN(3))}
			if rng.IntN(8) == 0 {
				h[i].cost = 2
			}
		}
		// On a grid whose phase is known exactly, or to within some ticks, and on any.
		exactly, roughly := newCounted(period, 0, limit, halves, phase, phase), newCounted(period, 0, limit, halves, phase-int64(rng.IntN(3)), phase+int64(rng.IntN(3)))
		any := newCounter(period, limit, 0, true)
		wrong := [3]bool{}
		for _, e := range play(h) {
			for i, m := range []model{exactly, roughly, any} {
				b := h[e.i]
				if e.rank < 2 {
					m.start(&b)
				} else if m.end(&b).wrong {
					wrong[i] = true
				}
			}
		}
		possible := bruteCounted(h, period, limit, phase, halves)
		for i, m := range []model{exactly, roughly, any} {
			if (wrong[i] || m.heaviest().over) && possible {
				t.Fatalf("model %d, history %d %+v, %d in %d, phase %d, %d halves: accused, and it is possible", i, n, h, limit, period, phase, halves)
			}
		}
		if wrong[0] || exactly.heaviest().over {
			accused++
		}
		if !possible {
			impossible++
		}
	}
	t.Logf("%d of %d impossible records were accused", accused, impossible)
	if accused < impossible/2 {
		t.Errorf("only %d of %d impossible records were accused", accused, impossible)
	}
}

// A counter whose windows a key's first request begins is not accused either.
func TestOwnCountersNeverAccuseWrongly(t *testing.T) {
	rng := rand.New(rand.NewPCG(62, 1))
	accused, impossible := 0, 0
	for n := range histories {
		halves, period, limit := rng.Int64N(3), int64(3+rng.IntN(7)), int64(1+rng.IntN(4))
		h := make([]brief, 1+rng.IntN(5))
		at := int64(0)
		for i := range h {
			at += int64(rng.IntN(4))
			h[i] = brief{from: at, to: at + int64(rng.IntN(3)), cost: 1, seq: int64(i + 1), outcome: results.Outcome(rng.IntN(3))}
		}
		o := newOwnCounted(newCounted(period, 0, limit, halves, 0, 0))
		wrong := false
		for _, e := range play(h) {
			if b := h[e.i]; e.rank < 2 {
				o.start(&b)
			} else if o.end(&b).wrong {
				wrong = true
			}
		}
		wrong = wrong || o.heaviest().over
		possible := bruteCounted(h, period, limit, -1, halves)
		if wrong && possible {
			t.Fatalf("history %d %+v, %d in %d, %d halves: accused, and it is possible", n, h, limit, period, halves)
		}
		if wrong {
			accused++
		}
		if !possible {
			impossible++
		}
	}
	t.Logf("%d of %d impossible records were accused", accused, impossible)
	if accused < impossible/4 {
		t.Errorf("only %d of %d impossible records were accused", accused, impossible)
	}
}
