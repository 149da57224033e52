package assertions

import (
	"math/rand/v2"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

// bruteQueued asks whether any moments of decision, in any order, and any fate
// of the unknown requests make a queue give the record: one request each space
// ticks, places to wait in, and no answer to what was let in before it is
// released.
func bruteQueued(h []brief, space, places int64) bool {
	return anyMoments(h, func(at []int64) bool { return queuedOrder(h, at, space, places) })
}

func queuedOrder(h []brief, at []int64, space, places int64) bool {
	order := sortedBy(at)
	var try func(i int, next int64) bool
	try = func(i int, next int64) bool {
		if i == len(order) {
			return true
		}
		for j := i; j < len(order) && at[order[j]] == at[order[i]]; j++ {
			order[i], order[j] = order[j], order[i]
			x, d := h[order[i]], at[order[i]]
			release := max(next, d)
			fits := release-d+(x.cost-1)*space <= places*space
			ok := fits && x.outcome != results.Limited && (x.outcome == results.Unknown || release <= x.to) &&
				try(i+1, release+x.cost*space)
			ok = ok || !fits && x.outcome != results.Admitted && try(i+1, next) || x.outcome == results.Unknown && try(i+1, next)
			order[i], order[j] = order[j], order[i]
			if ok {
				return true
			}
		}
		return false
	}
	return try(0, -1<<40)
}

func TestQueuedNeverAccusesWrongly(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 1))
	accused, impossible, more := 0, 0, 0
	for n := range histories {
		space, places := int64(1+rng.IntN(5)), int64(1+rng.IntN(3))
		h := make([]brief, 1+rng.IntN(6))
		at := int64(0)
		for i := range h {
			at += int64(rng.IntN(3))
			h[i] = brief{from: at, to: at + int64(rng.IntN(2)), cost: 1, seq: int64(i + 1), outcome: results.Outcome(rng.IntN(3))}
			if h[i].outcome == results.Admitted && rng.IntN(2) == 0 {
				h[i].to += rng.Int64N(places*space + 1) // it waits
			}
			if rng.IntN(8) == 0 && places > 1 {
				h[i].cost = 2
			}
		}
		down := tempo{num: 1, den: space}
		q, plain := newQueued(down, places, (places+1)*space+1, 0, true, 0), newBucket(tempo{}, 0, down, places+1, 0, true, 0)
		wrong, roughly := false, false
		for _, e := range play(h) {
			b := h[e.i]
			if e.rank < 2 {
				q.start(&b)
				plain.start(&b)
				continue
			}
			wrong = q.end(&b).wrong || wrong
			roughly = plain.end(&b).wrong || roughly
		}
		possible := bruteQueued(h, space, places)
		if wrong && possible {
			t.Fatalf("history %d %+v, one in %d, %d places: accused, and it is possible", n, h, space, places)
		}
		if wrong {
			accused++
		}
		if wrong && !roughly {
			more++
		}
		if !possible {
			impossible++
		}
	}
	t.Logf("%d of %d impossible records were accused, %d of them only because of what was waiting", accused, impossible, more)
	if more == 0 {
		t.Error("what was waiting has never told anything")
	}
}
