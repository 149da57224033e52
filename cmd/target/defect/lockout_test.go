package defect

import (
	"testing"
	"time"
)

// b = 10, r = 5/s, drained and refused once at 0. A is asked every 100 ms from then
// on, B only once, at 3.1 s.
func TestLockout(t *testing.T) {
	tests := []struct {
		defects []string
		a       time.Duration // its next admission within 12 s; 0: none
		b       bool
		wait    int64 // seconds that the first refusal tells
	}{
		{nil, 200 * time.Millisecond, true, 1},
		{[]string{"lockout"}, 3 * time.Second, true, 3},
		{[]string{"lockout{for=3s,extend}"}, 0, true, 3},
		{[]string{"lockout{for=10ms}"}, 200 * time.Millisecond, true, 1},
		{[]string{"lockout{for=4s}"}, 4 * time.Second, false, 4},
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=10,rate=5/s}", tt.defects...)
		r.volley("a", 10)
		r.volley("b", 10)
		r.ask("b")
		if got := r.ask("a").RetryAfter(); got != tt.wait {
			t.Errorf("%v: got Retry-After %d, want %d", tt.defects, got, tt.wait)
		}
		var back time.Duration
		for r.now < 12*time.Second {
			r.now += 100 * time.Millisecond
			if r.ask("a").Admitted && back == 0 {
				back = r.now
			}
			if r.now == 3100*time.Millisecond && r.ask("b").Admitted != tt.b {
				t.Errorf("%v: a key that waited: admitted %v, want %v", tt.defects, !tt.b, tt.b)
			}
		}
		if back != tt.a {
			t.Errorf("%v: a key that kept asking was admitted again at %v, want %v", tt.defects, back, tt.a)
		}
	}
}
