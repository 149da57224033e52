package limiter

import (
	"testing"

	"pgregory.net/rapid"
)

// The bucket, the meter and the cell rate algorithm say the same of every
// request, to the last unit and nanosecond, at every rate and after every pause;
// and the queue says what a cell rate algorithm with a place more does.
func TestBucketMeterAndGCRAAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawBucket(t, oddRates)
		rate, burst := b.promise.Rate, b.promise.Burst
		m, errM := NewMeter(burst, rate)
		g, errG := NewGCRA(burst, rate)
		longer, errL := NewGCRA(burst+1, rate)
		q, errQ := NewQueue(burst, rate)
		if errM != nil || errG != nil || errL != nil || errQ != nil {
			t.Fatal(errM, errG, errL, errQ)
		}
		same := [][]Algorithm{{b, m, g}, {longer, q}}
		states := [][]State{{b.Fresh(0), m.Fresh(0), g.Fresh(0)}, {longer.Fresh(0), q.Fresh(0)}}
		now := int64(0)
		for range rapid.IntRange(1, 80).Draw(t, "requests") {
			now += drawPause(t, b)
			cost := rapid.Int64Range(1, burst).Draw(t, "cost")
			for i := range same {
				agree(t, same[i], states[i], now, cost)
			}
		}
	})
}

// agree asks all and wants one answer. Only a queue has a delay.
func agree(t *rapid.T, all []Algorithm, states []State, now, cost int64) {
	t.Helper()
	var first Decision
	for i, a := range all {
		view := a.View(states[i], now)
		d, err := a.Decide(states[i], now, cost)
		if err != nil {
			t.Fatal(err)
		}
		if view.Before != d.Before || view.After != d.Before || view.Admitted {
			t.Fatalf("%s at %d: viewed %+v, decided %+v", a.Promise(), now, view, d)
		}
		d.Delay = 0
		if i == 0 {
			first = d
		} else if d != first {
			t.Fatalf("at %d cost %d: got %+v of %s, want %+v as of %s", now, cost, d, a.Promise(), first, all[0].Promise())
		}
		if got, want := a.Forgettable(states[i], now), all[0].Forgettable(states[0], now); got != want {
			t.Fatalf("at %d: %s is forgettable: %v, and %s: %v", now, a.Promise(), got, all[0].Promise(), want)
		}
	}
}
