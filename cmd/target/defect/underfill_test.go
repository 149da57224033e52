package defect

import (
	"testing"
	"time"
)

// Five times the rate is offered for 30 s, and what is admitted is held against
// the right limiter at the same requests.
func TestUnderfill(t *testing.T) {
	offer := func(defects ...string) (admitted int) {
		r := newRig(t, "token-bucket{burst=10,rate=100/s}", defects...)
		for ; r.now < 30*time.Second; r.now += 2 * time.Millisecond {
			admitted += r.volley("a", 1)
		}
		return admitted
	}
	ideal := offer()
	if ideal != 3009 { // the last one is asked 2 ms before the 3010th has come
		t.Fatalf("right: got %d, want 10 + 100/s x 29.998 s", ideal)
	}
	tests := []struct {
		defect string
		want   int // in thousandths of the ideal
	}{
		{"underfill{eff=0.65}", 651},
		{"underfill{eff=0.65,form=lost}", 651},
		{"underfill{eff=0.83}", 830},
		{"underfill{eff=0.2}", 202},
		{"underfill{eff=0.2,form=lost,tick=50ms}", 202},
		{"underfill{eff=0.97}", 970},
	}
	for _, tt := range tests {
		if got := offer(tt.defect) * 1000 / ideal; got != tt.want {
			t.Errorf("%s: got %d thousandths of %d, want %d", tt.defect, got, ideal, tt.want)
		}
	}
}
