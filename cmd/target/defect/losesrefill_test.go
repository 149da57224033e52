package defect

import (
	"testing"
	"time"
)

// b = 1, r = 1/s, asked every 0.5 s for 10 s: right are one at 0 and then one a
// second. The wrong one has 0.5 tokens at every question, and loses them.
func TestLosesRefill(t *testing.T) {
	tests := []struct {
		defects []string
		want    int
	}{
		{nil, 11},
		{[]string{"loses-refill-on-refusal"}, 1},
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=1,rate=1/s}", tt.defects...)
		admitted := 0
		for i := range time.Duration(21) {
			r.now = i * 500 * time.Millisecond
			admitted += r.volley("a", 1)
		}
		if admitted != tt.want {
			t.Errorf("%v: got %d admitted, want %d", tt.defects, admitted, tt.want)
		}
		// Who does not ask in between gets the token.
		r.now += time.Second
		if !r.ask("a").Admitted {
			t.Errorf("%v: refused after a second of rest", tt.defects)
		}
	}
}
