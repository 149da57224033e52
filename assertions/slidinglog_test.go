package assertions

import (
	"math/rand/v2"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

func TestLogUpperAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	for n := range 200_000 {
		h := randomHistory(rng, 10)
		window := int64(1 + rng.IntN(12))
		m := play(h)
		l := logUpper{window: window}
		for _, e := range m {
			if b := h[e.i]; e.rank >= 2 && b.outcome == results.Admitted {
				l.end(b.from, e.at, b.cost)
			}
		}
		var want int64
		for _, start := range h {
			var sum int64
			for _, x := range h {
				if x.outcome == results.Admitted && x.from >= start.from && x.to < start.from+window {
					sum += x.cost
				}
			}
			want = max(want, sum)
		}
		if l.most != want {
			t.Fatalf("history %d %+v, W %d: got %d, brute force %d", n, h, window, l.most, want)
		}
		var sum int64
		for _, x := range h {
			if x.outcome == results.Admitted && x.from >= l.from && x.to <= l.to {
				sum += x.cost
			}
		}
		if l.most > 0 && (sum < l.most || l.to >= l.from+window) {
			t.Fatalf("history %d: the witness [%d, %d] holds %d, claimed %d in %d", n, l.from, l.to, sum, l.most, window)
		}
	}
}

func TestLogLowerAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 1))
	for n := range 200_000 {
		h := randomHistory(rng, 10)
		window := int64(1 + rng.IntN(30))
		m := play(h)
		l := logLower{window: window}
		for _, e := range m {
			b := h[e.i]
			switch e.rank {
			case 0:
				l.spend(e.at, b.cost)
			case 1:
				l.refuse(e.at)
			case 3:
				l.spent(e.at, b.cost)
			case 2:
				got := l.refused(b.from, e.at)
				var want int64
				for d := b.from; d <= b.to; d++ {
					var sum int64
					for _, x := range h {
						if x.outcome != results.Limited && x.from <= d && x.to+window > d {
							sum += x.cost
						}
					}
					want = max(want, sum)
				}
				if got != want {
					t.Fatalf("history %d %+v, W %d, refusal %+v: got %d, brute force %d", n, h, window, b, got, want)
				}
			}
		}
	}
}
