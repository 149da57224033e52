package defect

import (
	"testing"
	"time"
)

// The primary promises 2, the fallback 100.
func TestFallbackSwap(t *testing.T) {
	for want, defects := range map[int][]string{2: nil, 100: {"fallback{burst=100,rate=100/s}"}} {
		for _, limit := range []string{"token-bucket{burst=2,rate=2/s}", "sliding-log{rate=2/s}"} {
			r := newRig(t, limit, defects...)
			if got := r.volley("a", 150); got != want {
				t.Errorf("%s %v: got %d of 150, want %d", limit, defects, got, want)
			}
			if d := r.ask("a"); d.Admitted || d.Limit != 2 {
				t.Errorf("%s %v: got %+v, want a refusal that tells of 2", limit, defects, d)
			}
			r.now += time.Second
			if got := r.volley("a", 150); got != want {
				t.Errorf("%s %v: a second later got %d, want %d", limit, defects, got, want)
			}
		}
	}
}
