package defect

import (
	"testing"
	"time"
)

// b = 10, r = 5/s, drained at 0.9 s, and again 0.11 s later: 10.55 are allowed, and
// 5 come when the second turns.
func TestLumpy(t *testing.T) {
	tests := []struct {
		defects []string
		want    int
	}{
		{nil, 10},
		{[]string{"lumpy{lump=5}"}, 15},
		{[]string{"lumpy{lump=1}"}, 11}, // 200 ms are the time of one
		{[]string{"lumpy{lump=5,align=first-hit}"}, 10},
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=10,rate=5/s}", tt.defects...)
		r.now = 900 * time.Millisecond
		got := r.volley("a", 30)
		r.now = 1010 * time.Millisecond
		if got += r.volley("a", 30); got != tt.want {
			t.Errorf("%v: got %d within 110 ms, want %d", tt.defects, got, tt.want)
		}
		if got := r.ask("b").Limit; got != 10 {
			t.Errorf("%v: tells %d, want 10", tt.defects, got)
		}
	}
}
