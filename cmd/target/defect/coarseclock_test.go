package defect

import (
	"fmt"
	"testing"
	"time"
)

// b = r = 10: drained at x.95 s, and again at (x+1).02 s, on keys of their own.
func TestCoarseClock(t *testing.T) {
	tests := []struct {
		defects  []string
		pair     int // within 70 ms, of which the bound is 10.7
		halfRest map[int]int
	}{
		{nil, 10, map[int]int{5: 20}},
		{[]string{"coarse-clock"}, 20, map[int]int{0: 10, 10: 10}},
		{[]string{"coarse-clock{granularity=10ms}"}, 10, map[int]int{5: 20}}, // the edge at .96 has brought 0.1
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=10,rate=10/s}", tt.defects...)
		r.now = 3950 * time.Millisecond
		got := r.volley("a", 30)
		r.now = 4020 * time.Millisecond
		if got += r.volley("a", 30); got != tt.pair {
			t.Errorf("%v: got %d within 70 ms, want %d", tt.defects, got, tt.pair)
		}
		// Twenty phases: half a second after a key was drained.
		after := map[int]int{}
		for i := range time.Duration(20) {
			r.now = 10*time.Second + i*5*time.Second + i*50*time.Millisecond
			key := fmt.Sprint(i)
			r.volley(key, 30)
			r.now += 500 * time.Millisecond
			after[r.volley(key, 30)]++
		}
		if fmt.Sprint(after) != fmt.Sprint(tt.halfRest) {
			t.Errorf("%v: after half a second got %v (how many at how many phases), want %v", tt.defects, after, tt.halfRest)
		}
	}
}

// Other algorithms read the same clock.
func TestCoarseClockOfOthers(t *testing.T) {
	for _, limit := range []string{"gcra{burst=10,rate=10/s}", "meter{burst=10,rate=10/s}", "sliding-log{rate=10/s}"} {
		r := newRig(t, limit, "coarse-clock")
		r.now = 3950 * time.Millisecond
		got := r.volley("a", 30)
		r.now = 4020 * time.Millisecond
		if got += r.volley("a", 30); got != 20 {
			t.Errorf("%s: got %d within 70 ms, want 20", limit, got)
		}
	}
}
