package defect

import (
	"testing"
	"time"
)

// b = 5, r = 50/s, asked every ms: 2 % too much are 20 in 20 s, and 120 in 120 s.
func TestRoundUp(t *testing.T) {
	tests := []struct {
		defects   []string
		at20, all int
	}{
		{nil, 5 + 1000, 5 + 6000},
		{[]string{"round-up{ppm=20000}"}, 5 + 1020, 5 + 6120},
		{[]string{"round-up{ppm=1000}"}, 5 + 1001, 5 + 6006},
		{[]string{"round-up{ppm=200}"}, 5 + 1000, 5 + 6001},
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=5,rate=50/s}", tt.defects...)
		admitted, at20 := r.volley("a", 10), 0
		for r.now < 120*time.Second {
			r.now += time.Millisecond
			admitted += r.volley("a", 1)
			if r.now == 20*time.Second {
				at20 = admitted
			}
		}
		if at20 != tt.at20 || admitted != tt.all {
			t.Errorf("%v: got %d in 20 s and %d in 120 s, want %d and %d", tt.defects, at20, admitted, tt.at20, tt.all)
		}
	}
}
