package assertions

import (
	"math/rand/v2"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

// bruteLumped asks whether any moments of decision, in any order, and any fate
// of the unknown requests make a bucket with lumps at phase + m*period give the
// record; phase < 0: lumps are counted from the first decision, and with anew from
// each that finds the bucket full.
func bruteLumped(h []brief, period, lump, burst, phase int64, anew bool) bool {
	return anyMoments(h, func(at []int64) bool { return lumpedOrder(h, at, period, lump, burst, phase, anew) })
}

func lumpedOrder(h []brief, at []int64, period, lump, burst, phase int64, anew bool) bool {
	order := sortedBy(at)
	type state struct {
		level, last, phase int64
		any                bool
	}
	var try func(i int, s state) bool
	try = func(i int, s state) bool {
		if i == len(order) {
			return true
		}
		for j := i; j < len(order) && at[order[j]] == at[order[i]]; j++ {
			order[i], order[j] = order[j], order[i]
			x, d := h[order[i]], at[order[i]]
			n := s
			if !n.any {
				n.any, n.level, n.last = true, burst, d
				if n.phase = phase; phase < 0 {
					n.phase = d
				}
			}
			fell := floorDiv(d-n.phase, period) - floorDiv(n.last-n.phase, period)
			n.level, n.last = min(burst, n.level+fell*lump), d
			if anew && n.level == burst {
				n.phase = d
			}
			fits := n.level >= x.cost
			ok := false
			if fits && x.outcome != results.Limited {
				m := n
				m.level -= x.cost
				ok = try(i+1, m)
			}
			ok = ok || !fits && x.outcome != results.Admitted && try(i+1, n) || x.outcome == results.Unknown && try(i+1, s)
			order[i], order[j] = order[j], order[i]
			if ok {
				return true
			}
		}
		return false
	}
	return try(0, state{})
}

func TestLumpedNeverAccusesWrongly(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 1))
	for _, first := range []bool{true, false} {
		accused, impossible := 0, 0
		for n := range histories {
			period, lump, burst := int64(2+rng.IntN(8)), int64(1+rng.IntN(3)), int64(1+rng.IntN(4))
			phase := int64(-1)
			if !first {
				phase = rng.Int64N(period)
			}
			h := make([]brief, 1+rng.IntN(5))
			at := int64(0)
			for i := range h {
				at += int64(rng.IntN(5))
				h[i] = brief{from: at, to: at + int64(rng.IntN(3)), cost: 1, outcome: results.Outcome(rng.IntN(3))}
			}
			l := newLumped(period, 0, lump, burst, phase, phase, !first)
			l.steady = first && rng.IntN(2) == 0
			l.thin = !first && rng.IntN(2) == 0
			wrong := false
			for _, e := range play(h) {
				b := h[e.i]
				if e.rank < 2 {
					l.start(&b)
				} else if r := l.end(&b); r.wrong {
					wrong = true
				}
			}
			wrong = wrong || l.heaviest().over
			possible := bruteLumped(h, period, lump, burst, phase, false) || first && !l.steady && bruteLumped(h, period, lump, burst, phase, true)
			if wrong {
				accused++
			}
			if !possible {
				impossible++
			}
			if wrong && possible {
				t.Fatalf("first %v, history %d %+v, burst %d, %d every %d, phase %d: accused, and it is possible; %+v", first, n, h, burst, lump, period, phase, l)
			}
		}
		t.Logf("lumps from the first use %v: %d of %d impossible records were accused", first, accused, impossible)
		if accused < impossible/2 {
			t.Errorf("only %d of %d impossible records were accused", accused, impossible)
		}
	}
}
