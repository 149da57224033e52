package defect

import (
	"testing"
	"time"
)

// b = 10, r = 5/s, drained, then asked every 100 ms for 10 s: half a token comes
// and one is asked for.
func TestChargesRefusals(t *testing.T) {
	tests := []struct {
		defects  []string
		admitted int
		after    time.Duration // of rest until the next is admitted
	}{
		{nil, 50, 200 * time.Millisecond},
		{[]string{"charges-refusals"}, 0, 200 * time.Millisecond},
		// 100 refusals have taken 100, and 50 have come: at -50, and 51 take 10.2 s.
		{[]string{"charges-refusals{form=debt}"}, 0, 10200 * time.Millisecond},
	}
	for _, tt := range tests {
		for _, early := range []time.Duration{time.Millisecond, 0} {
			r := newRig(t, "token-bucket{burst=10,rate=5/s}", tt.defects...)
			r.volley("a", 10)
			got := 0
			for r.now < 10*time.Second {
				r.now += 100 * time.Millisecond
				got += r.volley("a", 1)
			}
			if got != tt.admitted {
				t.Errorf("%v: got %d admitted, want %d", tt.defects, got, tt.admitted)
			}
			r.now += tt.after - early
			if d := r.ask("a"); d.Admitted != (early == 0) {
				t.Errorf("%v: %v before %v of rest: got %+v", tt.defects, early, tt.after, d)
			}
		}
	}
}
