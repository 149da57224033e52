package assertions

import (
	"math/rand/v2"
	"testing"
)

// What is cut from a possible history is possible, whatever is cut; and what is
// cut from an impossible one so that it still is has no request to spare.
func TestCuts(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	histories, proofs, smaller := 10_000, 0, 0
	if raced {
		histories = 500
	}
	for n := range histories {
		h, p := randomHistory(rng, 12), randomTempo(rng)
		burst, full := int64(1+rng.IntN(4)), rng.IntN(3) > 0
		x, bucket := inUnits(h, p, burst, full)
		o := ordering{driftingBucket: bucket, budget: 1_000_000}
		fails := func(x *history) bool { o.budget = 1_000_000; return o.solve(x) == impossible }
		if len(x.sure) == 0 {
			continue
		}
		if fails(x) {
			c := o.cut(x, full, 1_000_000, 100_000_000)
			if !fails(&c.history) {
				t.Fatalf("history %d %+v: its cut is possible: %+v", n, h, c)
			}
			for i := range c.sure {
				if y := c.without(i, i+1); len(y.sure) > 0 && fails(y) {
					t.Fatalf("history %d %+v: its cut can do without request %d: %+v", n, h, i, c)
				}
			}
			if proofs++; len(c.sure) < len(x.sure) {
				smaller++
			}
			continue
		}
		i, j := rng.IntN(len(x.sure)), rng.IntN(len(x.sure))
		begin, end := x.sure[i].from, max(x.sure[i].from, x.sure[j].to)
		if y := x.between(begin, end, bucket.unknownAt(begin)); fails(y) {
			t.Fatalf("history %d %+v is possible, but not %+v from %d to %d", n, x, y, begin, end)
		}
		if y := x.without(min(i, j), max(i, j)); fails(y) {
			t.Fatalf("history %d %+v is possible, but not %+v without %d to %d", n, x, y, i, j)
		}
	}
	t.Logf("%d proofs, %d smaller than their history", proofs, smaller)
	if smaller < proofs/2 || proofs < histories/10 {
		t.Errorf("%d proofs of %d histories, %d smaller", proofs, histories, smaller)
	}
}
