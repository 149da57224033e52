package defect

import (
	"fmt"
	"testing"
	"time"
)

// Ten keys are drained; the n-th is asked once when n tokens should have come.
func TestIntRefill(t *testing.T) {
	for _, rate := range []string{"6/m", "1/10s", "1/h"} {
		limit := "token-bucket{burst=10,rate=" + rate + "}"
		for want, defects := range map[int][]string{10: nil, 0: {"int-refill"}} {
			r := newRig(t, limit, defects...)
			for i := range 10 {
				r.volley(fmt.Sprint(i), 10)
			}
			admitted, token := 0, r.parts.Algorithm.Promise().Rate.Time(1)
			for i := range 10 {
				r.now += token
				admitted += r.volley(fmt.Sprint(i), 1)
			}
			if admitted != want {
				t.Errorf("%s %v: got %d of the 10 that are due, want %d", rate, defects, admitted, want)
			}
		}
	}
}

// 6 a minute are written. No less than one a second makes it 60.
func TestIntRefillOfOne(t *testing.T) {
	tests := []struct {
		defects []string
		want    int
	}{
		{nil, 6},
		{[]string{"int-refill{form=one}"}, 60},
		{[]string{"int-refill{form=one,tick=5s}"}, 12},
		{[]string{"int-refill{tick=20s}"}, 6}, // 2 each 20 s, which is the rate
		{[]string{"int-refill{tick=15s}"}, 4}, // 1.5 each 15 s, rounded down
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=10,rate=6/m}", tt.defects...)
		r.volley("a", 10)
		got := 0
		for r.now < time.Minute {
			r.now += 100 * time.Millisecond
			got += r.volley("a", 10)
		}
		if got != tt.want {
			t.Errorf("%v: got %d in a minute after the drain, want %d", tt.defects, got, tt.want)
		}
	}
}
