package assertions

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// queueRecord is what a queue made of a few arrivals: one release each space
// ticks, so many places, and next to choose who is released. With blur ends are
// a tick further apart at times.
func queueRecord(rng *rand.Rand, n, places int, space int64, next func(int, *rand.Rand) int, blur bool) (h []brief) {
	var waiting []int
	free, now := int64(0), int64(2)
	release := func(until int64) {
		for len(waiting) > 0 && free <= until {
			i := next(len(waiting), rng)
			h[waiting[i]].to = free
			waiting = slices.Delete(waiting, i, i+1)
			free += space
		}
	}
	for i := range n {
		now += rng.Int64N(3)
		release(now)
		b := brief{from: now, to: now, cost: 1, seq: int64(i + 1), outcome: results.Admitted}
		switch {
		case len(waiting) == 0 && free <= now:
			free = now + space
		case len(waiting) < places:
			waiting = append(waiting, i)
		default:
			b.outcome = results.Limited
		}
		h = append(h, b)
	}
	release(1 << 40)
	for i := range h {
		if blur {
			h[i].from -= rng.Int64N(2)
			h[i].to += rng.Int64N(2)
		}
		if blur && rng.IntN(20) == 0 {
			h[i].outcome = results.Unknown
		}
	}
	slices.SortStableFunc(h, func(a, b brief) int { return cmp.Compare(a.from, b.from) })
	return h
}

// A longer queue is never proved: whatever it makes of its requests, one with
// fewer places may have made of them. It is why lateness is told and not judged.
func TestMorePlacesCannotBeProved(t *testing.T) {
	rng := rand.New(rand.NewPCG(81, 1))
	longer := 0
	for n := range 3000 {
		space, places := int64(1+rng.IntN(3)), 1+rng.IntN(2)
		more := places + 1 + rng.IntN(2)
		h := queueRecord(rng, 3+rng.IntN(4), more, space, first, false)
		if !bruteQueued(h, space, int64(places)) {
			t.Fatalf("history %d %+v, one in %d: %d places made it, and %d cannot have", n, h, space, more, places)
		}
		if slices.ContainsFunc(h, func(b brief) bool { return b.to-b.from > int64(places)*space }) {
			longer++
		}
	}
	if longer < 100 {
		t.Errorf("only %d records show a wait longer than the places take", longer)
	}
}

// Whatever is proved of the order of a queue, no right queue can have done.
func TestCorneredNeverAccusesWrongly(t *testing.T) {
	rng := rand.New(rand.NewPCG(82, 1))
	accused := 0
	for n := 0; accused < 300 && n < 400_000; n++ {
		space, places := int64(1+rng.IntN(3)), 1+rng.IntN(3)
		next := []func(int, *rand.Rand) int{first, last, anyone}[rng.IntN(3)]
		h := queueRecord(rng, 4+rng.IntN(4), places+rng.IntN(2), space, next, rng.IntN(2) == 0)
		if !corners(h, space, places) {
			continue
		}
		accused++
		if bruteQueued(h, space, int64(places)) {
			t.Fatalf("history %d %+v, one in %d, %d places: accused, and it is possible", n, h, space, places)
		}
	}
	if accused < 300 {
		t.Errorf("only %d records were accused", accused)
	}
}

// corners reports whether a record is held to be in another order than that of
// arrival. A tick of the history is a second, so that what is granted for the
// rounding of ticks is nothing.
func corners(history []brief, space int64, places int) bool {
	l := scenarios.Limit{Contract: scenarios.Queue, Burst: int64(places), Rate: scenarios.Rate{Count: 1, Per: time.Duration(space) * time.Second},
		Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "K"}}
	s := &sample{scene: &scene{sweep: newSweep(time.Nanosecond, 0, 0, 0), fresh: true}}
	for _, b := range history {
		b.from *= int64(time.Second)
		b.to *= int64(time.Second)
		s.hits = append(s.hits, sampled{brief: b})
	}
	h := newHolding(s, []scenarios.Limit{l}, 0)
	for _, k := range s.lines(l, h.space()) {
		if _, ok := h.cornered(k); ok {
			return true
		}
	}
	return false
}
