package assertions

import (
	"math"
	"math/rand/v2"
	"testing"
)

// randomCurve has pieces of slopes 0, 1 and a steep one, with gaps and points.
func randomCurve(rng *rand.Rand, steep int64) curve {
	var c curve
	x := rng.Int64N(10)
	for range 1 + rng.IntN(4) {
		x += rng.Int64N(3)
		p := piece{x, x + rng.Int64N(8), rng.Int64N(20), []int64{0, 1, steep}[rng.IntN(3)]}
		c = append(c, p)
		x = p.hi
	}
	return c
}

// at is eight times the value of a curve at an eighth of x.
func (c curve) at(x int64) int64 {
	least := int64(math.MaxInt64)
	for _, p := range c {
		if 8*p.lo <= x && x <= 8*p.hi {
			least = min(least, 8*p.at+p.slope*(x-8*p.lo))
		}
	}
	return least
}

// The lesser of two curves is never more than either, between whole numbers
// too, and less only by what brings a steep crossing to a whole number.
func TestLesser(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	pairs := 30_000
	if raced {
		pairs = 1000
	}
	for n := range pairs {
		steep := int64(2 + rng.IntN(5))
		f, g := randomCurve(rng, steep), randomCurve(rng, steep)
		c := curve(nil).lesser(f, g)
		for i := 1; i < len(c); i++ {
			if c[i].lo < c[i-1].hi {
				t.Fatalf("%d: %v and %v: the pieces of %v overlap", n, f, g, c)
			}
		}
		for x := int64(0); x <= 8*60; x++ {
			want := min(f.at(x), g.at(x))
			got := c.at(x)
			if got > want || want < math.MaxInt64 && got < want-8*steep || got < math.MaxInt64 && want == math.MaxInt64 {
				t.Fatalf("%d: %v and %v: %v has %d at %d/8, want %d", n, f, g, c, got, x, want)
			}
		}
	}
}

// aboveLine and belowLine take no point away that lies on their side, and above
// gives no more than the greater.
func TestPieceAgainstALine(t *testing.T) {
	rng := rand.New(rand.NewPCG(63, 64))
	pieces := 100_000
	if raced {
		pieces = 10_000
	}
	for n := range pieces {
		p := randomCurve(rng, int64(2+rng.IntN(5)))[0]
		off := rng.Int64N(30) - 10
		low, high := p.aboveLine(off)
		flat, rest := p.above(off)
		below, ok := p.belowLine(off)
		for x := 8 * p.lo; x <= 8*p.hi; x++ {
			v, line := curve{p}.at(x), x-8*off
			if got := (curve{low, high}).at(x); got > max(v, line) || got < max(v, line)-8*p.slope-8 {
				t.Fatalf("%d: the greater of %v and x-%d is %d at %d/8, want %d", n, p, off, got, x, max(v, line))
			}
			if got := (curve{flat, rest}).at(x); got > max(v, 8*off) || got < 8*off {
				t.Fatalf("%d: the greater of %v and %d is %d at %d/8, want %d", n, p, off, got, x, max(v, 8*off))
			}
			if v <= line && (!ok || x < 8*below.lo || x > 8*below.hi) {
				t.Fatalf("%d: %v has no %d/8 below x-%d: %v", n, p, x, off, below)
			}
		}
	}
}
