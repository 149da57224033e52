package defect

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/scenarios"
)

// A bucket that credits negative time, last asked tau ago and left with L tokens,
// is silent after a step of -d for max(0, d - tau - (L-1)/r).
func TestSilenceOfNaiveBuckets(t *testing.T) {
	odd := rand.New(rand.NewPCG(1, 2))
	silent := 0
	for range 2000 {
		// Tokens take whole nanoseconds, so that L is exact below.
		token := time.Duration(1+odd.IntN(1000)) * time.Millisecond
		burst := 1 + odd.Int64N(30)
		limit := "token-bucket{burst=" + fmt.Sprint(burst) + ",rate=" + scenarios.Rate{Count: 1, Per: token}.String() + "}"
		r := newRig(t, limit, "wall-clock")
		a := r.parts.Algorithm
		now := func() int64 { return r.parts.Now(r.parts.Clock.Read()) }

		left := odd.Int64N(burst*int64(token) + 1) // L, in units: a nanosecond is worth one
		s := a.Fresh(now())
		s.(*limiter.Bucket).Level = left
		tau := time.Duration(odd.Int64N(int64(20 * time.Second)))
		d := time.Duration(odd.Int64N(int64(40 * time.Second)))
		r.now += tau
		if err := r.parts.Clock.Step(-d); err != nil {
			t.Fatal(err)
		}

		silence := max(0, d-tau-(time.Duration(left)-token))
		if silence > 0 {
			silent++
			r.now += silence - 1
			if d, err := a.Decide(s.Clone(), now(), 1); err != nil || d.Admitted {
				t.Fatalf("%s left with %d units %v before a step of -%v: admitted before %v have passed: %+v, %v", limit, left, tau, d.Wait, silence, d, err)
			}
			r.now++
		}
		if got, err := a.Decide(s.Clone(), now(), 1); err != nil || !got.Admitted {
			t.Fatalf("%s left with %d units %v before a step of -%v: refused when %v have passed: %+v, %v", limit, left, tau, d, silence, got, err)
		}
		// Fresh keys are full.
		if got, err := a.Decide(a.Fresh(now()), now(), burst); err != nil || !got.Admitted {
			t.Fatalf("%s: a fresh key after the step: got %+v, %v", limit, got, err)
		}
	}
	if silent < 500 {
		t.Errorf("only %d of 2000 were silent at all", silent)
	}
}

// A bucket on a wall clock that is slewed by e gets r(1+e).
func TestSlewedWallClock(t *testing.T) {
	tests := []struct {
		defects []string
		ppm     int64
		want    int // in 1000 s of asking every 50 ms, beside the burst
	}{
		{nil, 5000, 10_000},
		{nil, -5000, 10_000},
		{[]string{"wall-clock"}, 5000, 10_050},
		{[]string{"wall-clock"}, -5000, 9_950},
		{[]string{"wall-clock"}, 500, 10_005},
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=10,rate=10/s}", tt.defects...)
		if err := r.parts.Clock.Do(clock.Event{Action: clock.Slew, PPM: tt.ppm}); err != nil {
			t.Fatal(err)
		}
		got := r.volley("a", 20) - 10
		for r.now < 1000*time.Second {
			r.now += 50 * time.Millisecond
			got += r.volley("a", 1)
		}
		if got != tt.want {
			t.Errorf("%v at %+d ppm: got %d, want %d", tt.defects, tt.ppm, got, tt.want)
		}
	}
}

// Two nodes a second apart write the same key in turn, each every 0.2 s. Where the
// older stamp takes the place of the newer one each swing earns the second again,
// and there is room for all 10 of it. Who keeps the later stamp earns no more than
// 10 a second.
func TestSkewedStamps(t *testing.T) {
	tests := []struct {
		form   string
		swings int
		want   int // in 4 s
	}{
		{"clamp", 0, 10 + 40},
		{"clamp", 10, 10 + 10*10 + 20},
		{"clamp", 20, 10 + 20*10},
		{"floor", 20, 10 + 20*10},
		{"max", 20, 10 + 40},
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=10,rate=10/s}", "wall-clock{form="+tt.form+"}")
		got := r.volley("a", 20)
		for i := range 2 * 20 {
			r.now += 100 * time.Millisecond
			if i/2 < tt.swings {
				if err := r.parts.Clock.Step([]time.Duration{-time.Second, time.Second}[i%2]); err != nil {
					t.Fatal(err)
				}
			}
			got += r.volley("a", 20)
		}
		if got != tt.want {
			t.Errorf("%s, %d swings in 4 s: got %d, want %d", tt.form, tt.swings, got, tt.want)
		}
	}
}
