package limiter

import (
	"slices"
	"testing"
	"time"
)

// rate=2r/s, 10 requests at once.
func TestNginxAtOnce(t *testing.T) {
	half := 500 * time.Millisecond
	tests := []struct {
		limit  string
		delays []time.Duration // of those that are admitted
	}{
		{"nginx{rate=2/s}", []time.Duration{0}},
		{"nginx{rate=2/s,burst=5}", []time.Duration{0, half, 2 * half, 3 * half, 4 * half, 5 * half}},
		{"nginx{rate=2/s,burst=5,nodelay}", []time.Duration{0, 0, 0, 0, 0, 0}},
		{"nginx{rate=2/s,burst=5,delay=2}", []time.Duration{0, 0, 0, half, 2 * half, 3 * half}},
	}
	for _, tt := range tests {
		n := build(t, tt.limit)
		s := n.Fresh(0)
		var delays []time.Duration
		refused := 0
		for range 10 {
			d, err := n.Decide(s, 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			if d.Admitted {
				delays = append(delays, d.Delay)
			} else if refused++; d.Wait != half {
				t.Errorf("%s: refused: got %+v, want a wait of 500 ms", tt.limit, d)
			}
		}
		if !slices.Equal(delays, tt.delays) || refused != 10-len(tt.delays) {
			t.Errorf("%s: got %v and %d refused, want %v", tt.limit, delays, refused, tt.delays)
		}
	}
}

// What is cut off: the rate to thousandths a second, the refill to thousandths
// of a request at each admission, the time to milliseconds.
func TestNginxTruncations(t *testing.T) {
	n := build(t, "nginx{rate=100/m,burst=1}").(*Nginx)
	if got := n.Thousandths(); got != 1666 { // 100 * 1000 / 60 = 1666.67
		t.Errorf("100 a minute: got %d thousandths a second, want 1666", got)
	}
	if got := build(t, "nginx{rate=100/m}").Promise(); got.Burst != 1 || got.Rate.String() != "100/m" {
		t.Errorf("got the promise %v, want that of 100 a minute and one at once", got)
	}
	s := n.Fresh(0)
	steps := []struct {
		at       time.Duration
		admitted bool
		excess   int64 // afterwards
	}{
		{0, true, 0},
		{0, true, 1000},
		{600 * time.Millisecond, false, 1000},       // 1666 * 600 / 1000 = 999, and 1000 - 999 + 1000 = 1001 > 1000
		{601*time.Millisecond - 1, false, 1000},     // the clock still says 600 ms
		{601 * time.Millisecond, true, 999},         // 1666 * 601 / 1000 = 1001
		{601 * time.Millisecond, false, 999},        // 1999
		{1200 * time.Millisecond, false, 999},       // 1666 * 599 / 1000 = 997
		{1201 * time.Millisecond, true, 1000},       // 1666 * 600 / 1000 = 999: 999 - 999 + 1000
		{10 * time.Second, true, 0},                 // long used up
		{10*time.Second + ms601, true, 0},           // 0 - 1001 + 1000 < 0
		{10*time.Second + ms601 + 300e6, true, 501}, // 0 - 1666 * 300 / 1000 + 1000 = 1000 - 499
	}
	for i, step := range steps {
		d, err := n.Decide(s, int64(step.at), 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.(*Excess).Level; d.Admitted != step.admitted || got != step.excess {
			t.Errorf("step %d at %v: got %v and an excess of %d, want %v and %d", i, step.at, d.Admitted, got, step.admitted, step.excess)
		}
	}
}

const ms601 = 601 * time.Millisecond

// A clock that goes back by up to a minute stands still for nginx; one that goes
// back by more goes on from there, a millisecond later.
func TestNginxClockBack(t *testing.T) {
	n := build(t, "nginx{rate=1/s,burst=1}")
	for _, tt := range []struct {
		back     time.Duration
		last     int64 // afterwards, ms
		admitted bool
	}{
		{time.Second, 100_000, true},
		{time.Minute, 100_000, true},
		{time.Minute + time.Millisecond, 39_999, true},
	} {
		s := n.Fresh(int64(100 * time.Second))
		tally(t, n, s, 100*time.Second, 1)
		d, err := n.Decide(s, int64(100*time.Second-tt.back), 1)
		if k := s.(*Excess); err != nil || d.Admitted != tt.admitted || k.Last != tt.last {
			t.Errorf("%v back: got %+v, %v and %+v, want admitted %v and the last at %d ms", tt.back, d, err, k, tt.admitted, tt.last)
		}
	}
}

// A cost is that many requests at once, all or none.
func TestNginxCost(t *testing.T) {
	n := build(t, "nginx{rate=2/s,burst=5}")
	s := n.Fresh(0)
	if d, _ := n.Decide(s, 0, 4); !d.Admitted || d.Delay != 1500*time.Millisecond || d.Remaining != 2 {
		t.Errorf("4: got %+v, want the delay of the fourth, 1.5 s, and 2 left", d)
	}
	if d, _ := n.Decide(s, 0, 3); d.Admitted || d.Remaining != 2 || d.Wait != 500*time.Millisecond {
		t.Errorf("3 more: got %+v, want a refusal and a wait of 500 ms", d)
	}
	if d, _ := n.Decide(s, 0, 2); !d.Admitted || d.Delay != 2500*time.Millisecond || d.Remaining != 0 {
		t.Errorf("2 more: got %+v, want the delay of the sixth, 2.5 s", d)
	}
}
