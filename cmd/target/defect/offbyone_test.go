package defect

import (
	"fmt"
	"testing"
	"time"
)

func TestOffByOne(t *testing.T) {
	tests := []struct {
		defects  []string
		admitted int
	}{
		{nil, 10},
		{[]string{"off-by-one{delta=+1}"}, 11},
		{[]string{"off-by-one{delta=-1}"}, 9},
		{[]string{"off-by-one{delta=1}"}, 11},
		{[]string{"off-by-one{delta=+3}"}, 13},
	}
	for _, tt := range tests {
		r := newRig(t, "token-bucket{burst=10,rate=5/s}", tt.defects...)
		for key := range 30 {
			if got := r.volley(fmt.Sprint(key), 30); got != tt.admitted {
				t.Errorf("%v key %d: got %d of 30 admitted, want %d", tt.defects, key, got, tt.admitted)
			}
		}
		// Constant in time: after 4 s of rest the same again.
		r.now = 4 * time.Second
		if got := r.volley("0", 30); got != tt.admitted {
			t.Errorf("%v after a rest: got %d of 30 admitted, want %d", tt.defects, got, tt.admitted)
		}
	}
}

// What is told stays that of a bucket of 10: 9 after the first request, and
// never less than 0.
func TestOffByOneTells(t *testing.T) {
	for _, d := range []string{"off-by-one{delta=+1}", "off-by-one{delta=-1}"} {
		r := newRig(t, "token-bucket{burst=10,rate=5/s}", d)
		for i := range int64(9) {
			if got := r.ask("a").Remaining; got != 9-i {
				t.Errorf("%s: after %d requests: got %d remaining, want %d", d, i+1, got, 9-i)
			}
		}
	}
	r := newRig(t, "token-bucket{burst=10,rate=5/s}", "off-by-one{delta=+1}")
	r.volley("a", 11)
	if got := r.ask("a").Remaining; got != 0 {
		t.Errorf("empty: got %d remaining, want 0", got)
	}
}

// Every algorithm whose room is a number of tokens can have one more, and tells
// as if it had not.
func TestOffByOneOfEveryAlgorithm(t *testing.T) {
	tests := []struct {
		limit    string
		admitted int // of 30 at once, by the right one
	}{
		{"meter{burst=10,rate=5/s}", 10},
		{"gcra{burst=10,rate=5/s}", 10},
		{"queue{burst=9,rate=5/s}", 10}, // and one that is released at once
		{"lumps{burst=10,rate=5/s}", 10},
		{"lumps{burst=10,rate=5/s,align=start}", 10},
		{"fixed-window{rate=10/s,align=start}", 10},
		{"sliding-log{rate=10/s}", 10},
		{"sliding-counter{rate=10/s,align=start}", 10},
		{"concurrency{burst=10}", 10},
	}
	for _, tt := range tests {
		for delta, d := range map[int][]string{0: nil, 1: {"off-by-one{delta=+1}"}, -1: {"off-by-one{delta=-1}"}} {
			r := newRig(t, tt.limit, d...)
			first := r.ask("a")
			if first.Remaining != 9 || first.Limit != 10 {
				t.Errorf("%s %v: got %d of %d left, want 9 of 10", tt.limit, d, first.Remaining, first.Limit)
			}
			if got := 1 + r.volley("a", 29); got != tt.admitted+delta {
				t.Errorf("%s %v: got %d of 30 admitted, want %d", tt.limit, d, got, tt.admitted+delta)
			}
		}
	}
}
