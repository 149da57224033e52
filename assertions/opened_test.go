package assertions

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

// bruteOpened asks whether any moments of decision, in any order, and any fate
// of the unknown requests make a limiter whose windows are opened by requests
// give this record.
func bruteOpened(h []brief, window, limit int64, keys bool) bool {
	return anyMoments(h, func(at []int64) bool { return anyOrder(h, at, window, limit) })
}

// anyOrder tries the orders of equal moments and the fates of unknown requests.
func anyOrder(h []brief, at []int64, window, limit int64) bool {
	order := sortedBy(at)
	var try func(i int, start, used int64, open bool) bool
	try = func(i int, start, used int64, open bool) bool {
		if i == len(order) {
			return true
		}
		for j := i; j < len(order) && at[order[j]] == at[order[i]]; j++ {
			order[i], order[j] = order[j], order[i]
			x, d := h[order[i]], at[order[i]]
			s, u := start, used
			if !open || d >= start+window {
				s, u = d, 0
			}
			fits := u+x.cost <= limit
			ok := fits && x.outcome != results.Limited && try(i+1, s, u+x.cost, true) ||
				!fits && x.outcome != results.Admitted && try(i+1, start, used, open) ||
				x.outcome == results.Unknown && try(i+1, start, used, open) // it never came to the limiter
			order[i], order[j] = order[j], order[i]
			if ok {
				return true
			}
		}
		return false
	}
	return try(0, 0, 0, false)
}

// sortedBy is the order of moments.
func sortedBy(at []int64) []int {
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(at[a] - at[b]) })
	return order
}

func TestOpenedNeverAccusesWrongly(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 1))
	accused, impossible := 0, 0
	for n := range histories {
		window, limit := int64(3+rng.IntN(8)), int64(1+rng.IntN(3))
		h := make([]brief, 1+rng.IntN(5))
		at := int64(0)
		for i := range h {
			at += int64(rng.IntN(5))
			h[i] = brief{from: at, to: at + int64(rng.IntN(3)), cost: 1, outcome: results.Outcome(rng.IntN(3))}
		}
		m := play(h)
		o, wrong := newOpened(window, window, limit, h[0].from, true), false
		l := logLower{window: window}
		for _, e := range m {
			b := h[e.i]
			switch e.rank {
			case 0:
				l.spend(e.at, b.cost)
				o.spend(b.from, b.to, b.cost, b.outcome == results.Admitted)
			case 1:
				l.refuse(e.at)
			case 2:
				wrong = wrong || l.refused(b.from, e.at)+b.cost <= limit
				most, known := o.refused(b.from, e.at)
				wrong = wrong || known && most+b.cost <= limit
			case 3:
				l.spent(e.at, b.cost)
				admitted := b.cost
				if b.outcome != results.Admitted {
					admitted = 0
				}
				o.spent(b.from, e.at, b.cost, admitted)
			}
		}
		wrong = wrong || o.most > limit
		possible := bruteOpened(h, window, limit, false)
		if wrong {
			accused++
		}
		if !possible {
			impossible++
		}
		if wrong && possible {
			t.Fatalf("history %d %+v, %d in %d: accused, and it is possible; %+v", n, h, limit, window, o)
		}
	}
	t.Logf("%d of %d impossible records were accused", accused, impossible)
	if accused < impossible/2 {
		t.Errorf("only %d of %d impossible records were accused", accused, impossible)
	}
}
