package defect

import (
	"fmt"
	"testing"
	"time"
)

// 10,000 keys ask once, and rest for three times the 2 s that fill their buckets.
// Then others ask, which makes a right table forget what has rested.
func TestLeak(t *testing.T) {
	tests := []struct {
		defects     []string
		least, most int // keys in the end, of 10,000 and one
	}{
		{nil, 1, 1000},
		{[]string{"leak{bytes=1024}"}, 10_001, 10_001},
		{[]string{"leak"}, 10_001, 10_001},
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=10,rate=5/s}", tt.defects...)
		for i := range 10_000 {
			r.ask(fmt.Sprint(i))
		}
		r.now = 6 * time.Second
		for range 50_000 {
			r.ask("other")
		}
		if got := r.table.Len(); got < tt.least || got > tt.most {
			t.Errorf("%v: got %d keys in the end, want %d to %d", tt.defects, got, tt.least, tt.most)
		}
	}
	r := newRig(t, "token-bucket{burst=10,rate=5/s}", "leak{bytes=1024}")
	if got := len(r.parts.Algorithm.Fresh(0).(*noted[[]byte]).Note); got != 1024 {
		t.Errorf("got %d bytes more for each key, want 1024", got)
	}
}
