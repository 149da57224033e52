package defect

import (
	"testing"
	"time"
)

// b = 10, r = 10/s, drained: what is had after a rest, and by who asks every 0.5 s
// for 10 s.
func TestDropsFraction(t *testing.T) {
	tests := []struct {
		defects []string
		rests   map[time.Duration]int
		asking  int
	}{
		{nil, map[time.Duration]int{500 * time.Millisecond: 5, 999 * time.Millisecond: 9, time.Second: 10}, 20},
		{[]string{"drops-fraction"}, map[time.Duration]int{500 * time.Millisecond: 0, 999 * time.Millisecond: 0, time.Second: 10}, 0},
		{[]string{"drops-fraction{tick=100ms}"}, map[time.Duration]int{500 * time.Millisecond: 5, 999 * time.Millisecond: 9, 99 * time.Millisecond: 0}, 20},
	}
	for _, tt := range tests {
		for rest, want := range tt.rests {
			r := newRig(t, "token-bucket{burst=10,rate=10/s}", tt.defects...)
			r.volley("a", 10)
			r.now = rest
			if got := r.volley("a", 30); got != want {
				t.Errorf("%v after %v: got %d, want %d", tt.defects, rest, got, want)
			}
		}
		r := newRig(t, "token-bucket{burst=10,rate=10/s}", tt.defects...)
		r.volley("a", 10)
		got := 0
		for range 20 {
			r.now += 500 * time.Millisecond
			got += r.volley("a", 1)
		}
		if got != tt.asking {
			t.Errorf("%v: got %d of 20 who ask twice a second, want %d", tt.defects, got, tt.asking)
		}
	}
}
