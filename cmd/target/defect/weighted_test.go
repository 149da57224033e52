package defect

import (
	"testing"
	"time"
)

// A cold key sends L = 100 at the very end of a window of 10 s, and then all the
// time through the next one. Of these the last W before its end hold all, and what
// the estimate lets in there: 99, or 100 if the share is rounded down.
func TestWeighted(t *testing.T) {
	tests := []struct {
		defects []string
		want    int
	}{
		{nil, 100},
		{[]string{"weighted{arith=float}"}, 199},
		{[]string{"weighted{arith=int}"}, 200},
	}
	for _, tt := range tests {
		r := newRig(t, "sliding-log{rate=100/10s}", tt.defects...)
		r.now = 9999 * time.Millisecond
		got := r.volley("a", 100)
		for r.now < 19_990*time.Millisecond {
			r.now += time.Millisecond
			got += r.volley("a", 1)
		}
		if got != tt.want {
			t.Errorf("%v: got %d within 9.991 s, want %d", tt.defects, got, tt.want)
		}
	}
}

// L = 1, W = 10 s: after a request at 0.9 W the next one is due at 1.9 W.
func TestWeightedOfOne(t *testing.T) {
	tests := []struct {
		defects []string
		want    time.Duration
	}{
		{nil, 10 * time.Second},
		{[]string{"weighted{arith=float}"}, 11 * time.Second},
		{[]string{"weighted{arith=int}"}, 1100 * time.Millisecond}, // 0.99 of one is none
	}
	for _, tt := range tests {
		r := newRig(t, "sliding-log{rate=1/10s}", tt.defects...)
		r.now = 9 * time.Second
		r.ask("a")
		for r.now += 100 * time.Millisecond; !r.ask("a").Admitted; r.now += 100 * time.Millisecond {
		}
		if gap := r.now - 9*time.Second; gap != tt.want {
			t.Errorf("%v: got a gap of %v, want %v", tt.defects, gap, tt.want)
		}
	}
}
