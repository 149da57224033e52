package defect

import (
	"testing"
	"time"
)

// b = 20, r = 10/s: 60 requests, one each 0.1 ms. The level is 0 after 20 of them,
// and a thousandth of a token at the next.
func TestIntoDebt(t *testing.T) {
	for want, defects := range map[int][]string{20: nil, 21: {"into-debt"}} {
		r := newRig(t, "token-bucket{burst=20,rate=10/s}", defects...)
		got := 0
		for range 60 {
			got += r.volley("a", 1)
			r.now += 100 * time.Microsecond
		}
		if got != want {
			t.Errorf("%v: got %d of 60, want %d", defects, got, want)
		}
	}
	// One is left, 20 are asked for: 19 are owed, and take 1.9 s.
	r := newRig(t, "token-bucket{burst=20,rate=10/s}", "into-debt")
	a := r.parts.Algorithm
	s := a.Fresh(0)
	for _, cost := range []int64{19, 20} {
		if d, err := a.Decide(s, 0, cost); err != nil || !d.Admitted {
			t.Errorf("cost %d: got %+v, %v, want it admitted", cost, d, err)
		}
	}
	if d, err := a.Decide(s, 0, 1); err != nil || d.Admitted || d.Wait != 2*time.Second {
		t.Errorf("with 19 owed: got %+v, %v, want a wait of 2 s", d, err)
	}
}
