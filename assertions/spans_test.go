package assertions

import (
	"math/rand/v2"
	"testing"
)

func TestCircleAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	fulls := 0
	for range 20_000 {
		c := circle{length: int64(1 + rng.IntN(30))}
		in := make([]bool, c.length) // point x stands for (x, x+1]
		for range rng.IntN(8) {
			lo := int64(rng.IntN(200) - 100)
			hi := lo + int64(rng.IntN(int(c.length)+3)-1)
			c.add(lo, hi)
			for x := lo; x < hi; x++ {
				in[mod(x, c.length)] = true
			}
		}
		missing := int64(0)
		for x, want := range in {
			if got := c.has(int64(x) + 1); got != want {
				t.Fatalf("%+v: has(%d) = %v, want %v", c, x+1, got, want)
			}
			if !want {
				missing++
			}
		}
		widest, total := c.gap()
		if total != missing || c.full() != (missing == 0) || widest.hi-widest.lo > missing {
			t.Fatalf("%+v: gap %v, %d missing of %d, full %v", c, widest, missing, c.length, c.full())
		}
		for x := widest.lo; x < widest.hi; x++ {
			if in[mod(x, c.length)] {
				t.Fatalf("%+v: the gap %v holds %d", c, widest, x)
			}
		}
		for i := 1; i < len(c.spans); i++ {
			if c.spans[i].lo <= c.spans[i-1].hi {
				t.Fatalf("%+v: spans touch", c)
			}
		}
		if c.full() {
			fulls++
		}
	}
	if fulls == 0 {
		t.Error("no circle was full")
	}
}
