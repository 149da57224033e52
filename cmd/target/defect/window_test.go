package defect

import (
	"fmt"
	"testing"
	"time"
)

// Eight keys send 10, and 10 again after 0.2 s, at eight phases of the 10 s: b = 10
// and r = 1/s allow 10 + 0.2. One of the pairs has the edge at 10 s in between.
func TestWindow(t *testing.T) {
	tests := []struct {
		limit   string
		defects []string
		most    int
	}{
		{"token-bucket{burst=10,rate=10/10s}", nil, 10},
		{"token-bucket{burst=10,rate=10/10s}", []string{"window"}, 20},
		{"token-bucket{burst=10,rate=10/10s}", []string{"window{align=start}"}, 20},
		{"gcra{burst=10,rate=10/10s}", []string{"window"}, 20},
		{"sliding-log{rate=10/10s}", []string{"window"}, 20},
		{"sliding-log{rate=10/10s}", nil, 10},
	}
	for _, tt := range tests {
		r := newRig(t, tt.limit, tt.defects...)
		best, broken := 0, 0
		for i := range time.Duration(8) {
			r.now = 9900*time.Millisecond + i*1250*time.Millisecond
			key := fmt.Sprint(i)
			pair := r.volley(key, 10)
			r.now += 200 * time.Millisecond
			pair += r.volley(key, 10)
			best = max(best, pair)
			if pair > 10 {
				broken++
			}
		}
		if best != tt.most || broken > 1 {
			t.Errorf("%s %v: got %d in 0.2 s at best, and more than 10 at %d phases, want %d", tt.limit, tt.defects, best, broken, tt.most)
		}
	}
}

// Where its first request opens a window, a key waits behind it: 1 opens, 9 come
// just before the end and 10 just after. Of a bucket only 10 come.
func TestWindowOfFirstHit(t *testing.T) {
	for want, defects := range map[int][]string{10: nil, 19: {"window{align=first-hit}"}} {
		r := newRig(t, "token-bucket{burst=10,rate=10/10s}", defects...)
		r.now = 3 * time.Second
		r.ask("a")
		r.now = 12900 * time.Millisecond
		got := r.volley("a", 9)
		r.now = 13 * time.Second
		if got += r.volley("a", 10); got != want {
			t.Errorf("%v: got %d in 0.1 s, want %d", defects, got, want)
		}
	}
}
