package defect

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// Six keys ask once a second, half of what they may: b = 2, r = 2/s. At 30 s
// the wall clock goes from 29 s to 20 s: -9 s take 18 tokens. Each key had 1
// left at 29 s, so it is at -17 and gains 2 a second: above 0 at 39 s.
func TestWallClockBack(t *testing.T) {
	tests := []struct {
		defects []string
		refused map[time.Duration]int // by second: how many of the six keys
	}{
		{nil, nil},
		{[]string{"wall-clock"}, nil},
		{[]string{"wall-clock{step=-10s,every=30s}"}, map[time.Duration]int{30: 6, 31: 6, 32: 6, 33: 6, 34: 6, 35: 6, 36: 6, 37: 6, 38: 6}},
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=2,rate=2/s}", tt.defects...)
		for s := range time.Duration(60) {
			r.now = s * time.Second
			refused := 0
			for key := range 6 {
				if !r.ask(fmt.Sprint(key)).Admitted {
					refused++
				}
			}
			if refused != tt.refused[s] {
				t.Errorf("%v at %d s: got %d of 6 keys refused, want %d", tt.defects, s, refused, tt.refused[s])
			}
		}
	}
}

// A step by hand does the same, forward and back.
func TestWallClockStepped(t *testing.T) {
	tests := []struct {
		defects []string
		step    time.Duration
		want    int // of a volley of 20 after the step, on a bucket of 10 that was drained just before
	}{
		{nil, 10 * time.Second, 0},
		{nil, -10 * time.Second, 0},
		{[]string{"wall-clock"}, 10 * time.Second, 10}, // 50 tokens that no time has earned, 10 of which fit
		{[]string{"wall-clock"}, time.Second, 5},
		{[]string{"wall-clock"}, -10 * time.Second, 0},
		{[]string{"wall-clock{form=drain}"}, 10 * time.Second, 10},
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=10,rate=5/s}", tt.defects...)
		r.volley("a", 10)
		if err := r.parts.Clock.Step(tt.step); err != nil {
			t.Fatal(err)
		}
		if got := r.volley("a", 20); got != tt.want {
			t.Errorf("%v after %+v: got %d admitted, want %d", tt.defects, tt.step, got, tt.want)
		}
	}
	// Drained, stepped by -10 s: at -50 tokens, and the next one is 51/5 s away.
	r := newRig(t, "token-bucket{burst=10,rate=5/s}", "wall-clock")
	r.volley("a", 10)
	if err := r.parts.Clock.Step(-10 * time.Second); err != nil {
		t.Fatal(err)
	}
	if d := r.ask("a"); d.After/d.Unit != -50 || d.Wait != 10_200*time.Millisecond || d.Remaining != 0 {
		t.Errorf("after -10 s: got %+v, want -50 tokens, a wait of 10.2 s and 0 remaining", d)
	}
}

// A key that is full when the clock goes back is hit as well: it must not have
// been forgotten, however many others were asked since.
func TestWallClockRemembersFullKeys(t *testing.T) {
	r := newRig(t, "token-bucket{burst=2,rate=2/s}", "wall-clock")
	r.ask("a")
	r.now = 5 * time.Second
	for i := range 1000 {
		r.ask(fmt.Sprint(i))
	}
	if err := r.parts.Clock.Step(-10 * time.Second); err != nil {
		t.Fatal(err)
	}
	if r.ask("a").Admitted {
		t.Errorf("a key of 5 s ago was admitted after a step of -10 s: it had been forgotten")
	}
}

// No step takes a level out of its range, and a request that is the caller's
// mistake leaves it alone.
func TestDebitSaturates(t *testing.T) {
	r := newRig(t, "token-bucket{burst=10,rate=1000000/s}", "wall-clock")
	a := r.parts.Algorithm
	s := a.Fresh(1<<63 - 1)
	if _, err := a.Decide(s, 0, 11); !errors.As(err, new(*limiter.CostError)) || s.(*limiter.Bucket).Last != 1<<63-1 {
		t.Errorf("cost 11: got %v and %+v, want a CostError and the state as it was", err, s)
	}
	d, err := a.Decide(s, -1<<63, 1)
	if err != nil || d.Admitted || d.After != -limiter.MaxLevel || d.Wait <= 0 {
		t.Errorf("584 years back: got %+v, %v, want the lowest level and a wait", d, err)
	}
	// 3 units a nanosecond for 195 years are 2^64 + 2, of which 64 bits keep 2.
	r = newRig(t, "token-bucket{burst=1,rate=3/1024ns}", "wall-clock")
	s = r.parts.Algorithm.Fresh(6_148_914_691_236_517_206)
	if d, err := r.parts.Algorithm.Decide(s, 0, 1); err != nil || d.After != -limiter.MaxLevel {
		t.Errorf("195 years back: got %+v, %v, want the lowest level", d, err)
	}
}

// Where a step back drains a bucket, the whole of it is lost, however short the
// step was.
func TestWallClockDrains(t *testing.T) {
	for want, defects := range map[int][]string{9: nil, 0: {"wall-clock{form=drain}"}, 8: {"wall-clock{form=naive}"}} {
		r := newRig(t, "token-bucket{burst=10,rate=5/s}", defects...)
		r.ask("a")
		if err := r.parts.Clock.Step(-100 * time.Millisecond); err != nil { // half a token
			t.Fatal(err)
		}
		if got := r.volley("a", 20); got != want {
			t.Errorf("%v: got %d of the 9 that were left, want %d", defects, got, want)
		}
	}
}
