package assertions

import (
	"math/rand/v2"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

// bruteOrder decides by its definition whether a history is possible: it tries
// all orders, and for each the moments, as a system of differences between them.
// With x_k the moment of the k-th decision, a bucket of b that refills at 1
//
//	admits the k-th when  b + x_k - x_i >= cost of i..k      for each i <= k
//	refuses it when       b + x_k - x_i <  cost of i..k      for some i <= k
//
// over the admitted among i..k. Times are scaled so that less than means a whole
// unit less.
type bruteOrder struct {
	h     []brief
	num   int64 // units a tick
	den   int64 // units a token
	burst int64 // tokens
	scale int64
	edges []bruteEdge // x[to] >= x[from] + by; node 0 is time zero
	order []int       // by node, from 1
	used  []bool
}

type bruteEdge struct {
	from, to int
	by       int64
}

func newBruteOrder(h []brief, p tempo, burst int64, full bool) *bruteOrder {
	o := &bruteOrder{h: h, num: p.num, den: p.den, burst: burst, scale: int64(len(h) + 2)}
	if !full { // of any level at 0: all was taken at some moment since it would have been empty
		o.h = append([]brief{{from: -1, to: 0, cost: burst, outcome: results.Admitted}}, h...)
	}
	o.used = make([]bool, len(o.h))
	if !full {
		o.used[0] = true
		o.order = []int{0}
		o.edges = append(o.edges, bruteEdge{0, 1, -o.units(burst)}, bruteEdge{1, 0, 0})
	}
	return o
}

func (o *bruteOrder) units(tokens int64) int64 { return tokens * o.den * o.scale }

// holds reports whether the edges have a solution (Bellman and Ford).
func (o *bruteOrder) holds() bool {
	x := make([]int64, len(o.order)+1)
	for range len(x) + 1 {
		changed := false
		for _, e := range o.edges {
			if v := x[e.from] + e.by; v > x[e.to] {
				x[e.to], changed = v, true
			}
		}
		if !changed {
			return true
		}
	}
	return false
}

// possible tries to put one request more behind those in order.
func (o *bruteOrder) possible() bool {
	left := false
	for i, b := range o.h {
		left = left || !o.used[i] && (b.outcome == results.Admitted || b.outcome == results.Limited)
	}
	if !left {
		return true
	}
	for i := range o.h {
		if !o.used[i] && o.place(i) {
			return true
		}
	}
	return false
}

func (o *bruteOrder) place(i int) bool {
	b, k, edges := o.h[i], len(o.order)+1, len(o.edges)
	o.used[i], o.order = true, append(o.order, i)
	defer func() { o.used[i], o.order, o.edges = false, o.order[:k-1], o.edges[:edges] }()
	o.edges = append(o.edges, bruteEdge{0, k, b.from * o.num * o.scale}, bruteEdge{k, 0, -b.to * o.num * o.scale})
	if k > 1 {
		o.edges = append(o.edges, bruteEdge{k - 1, k, 0})
	}
	if b.outcome != results.Limited {
		if b.cost > o.burst {
			return false
		}
		taken := int64(0)
		for n := k; n >= 1; n-- {
			if x := o.h[o.order[n-1]]; x.outcome != results.Limited {
				taken += x.cost
				o.edges = append(o.edges, bruteEdge{n, k, o.units(taken - o.burst)})
			}
		}
		return o.holds() && o.possible()
	}
	if b.cost > o.burst {
		return o.holds() && o.possible()
	}
	taken := b.cost
	for n := k - 1; n >= 1; n-- {
		x := o.h[o.order[n-1]]
		if x.outcome == results.Limited {
			continue
		}
		taken += x.cost
		o.edges = append(o.edges, bruteEdge{k, n, 1 - o.units(taken-o.burst)})
		if o.holds() && o.possible() {
			return true
		}
		o.edges = o.edges[:len(o.edges)-1]
	}
	return false
}

// inUnits is a small history for an ordering, so fine that less than is whole
// units less, and the bucket that it is of. It keeps its speed.
func inUnits(h []brief, p tempo, burst int64, full bool) (*history, driftingBucket) {
	fine := int64(len(h) + 1)
	k := driftingBucket{burst: burst * p.den * fine, strict: 1}
	out := &history{start: fullAt(-1 << 40)}
	if !full {
		out.start = k.unknownAt(0)
	}
	for i, b := range h {
		t := task{from: b.from * p.num * fine, to: b.to * p.num * fine, cost: b.cost * p.den * fine,
			seq: int64(i), refused: b.outcome == results.Limited}
		switch {
		case t.refused && b.cost > burst:
		case b.spends() && b.outcome != results.Admitted:
			out.maybe = append(out.maybe, t)
		default:
			out.sure = append(out.sure, t)
		}
	}
	out.sort()
	return out, k
}

func TestOrderingAgainstBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	refuted, histories := 0, 60_000
	if raced {
		histories = 4000
	}
	histories = historiesOr(histories)
	for n := range histories {
		h, p := randomHistory(rng, 6), randomTempo(rng)
		burst, full := int64(1+rng.IntN(4)), rng.IntN(3) > 0
		units, bucket := inUnits(h, p, burst, full)
		o := ordering{driftingBucket: bucket, budget: 1_000_000}
		got := o.solve(units)
		want := impossible
		if newBruteOrder(h, p, burst, full).possible() {
			want = possible
		} else {
			refuted++
		}
		if got != want {
			t.Fatalf("history %d %+v at %+v burst %d full %v: got %d, brute force %d", n, h, p, burst, full, got, want)
		}
		o.budget = 1_000_000
		if got := o.solve(units.paired()); got == impossible && want == possible {
			t.Fatalf("history %d %+v at %+v burst %d full %v: impossible when paired, but possible", n, h, p, burst, full)
		}
	}
	t.Logf("%d of %d histories are impossible", refuted, histories)
	if refuted < histories/10 || refuted > histories*9/10 {
		t.Errorf("%d of %d are impossible: the histories do not try both sides", refuted, histories)
	}
}
