package defect_test

import (
	"fmt"
	"testing"
	"time"
)

// 1000 keys of b = 2, r = 1/s are used up, and asked once after 2 and after 5 of
// the 2 s that fill a bucket. Of the right ones none is refused; of the wrong ones
// p x 1000 are, give or take three times the root of p(1-p) x 1000, and the same
// ones both times.
func TestNoTTL(t *testing.T) {
	tests := []struct {
		defects     []string
		keys        int
		least, most int
	}{
		{nil, 1000, 0, 0},
		{[]string{"no-ttl{p=0.1}"}, 1000, 72, 128},
		{[]string{"no-ttl{p=0.001}"}, 4000, 1, 10},
		{[]string{"no-ttl{p=1}"}, 100, 100, 100},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: "token-bucket{burst=2,rate=1/s}", defects: tt.defects})
		for i := range tt.keys {
			if got := s.count(0, 3, same(fmt.Sprint(i))); got != 2 {
				t.Fatalf("%v: a fresh key: got %d of 3, want 2", tt.defects, got)
			}
		}
		var stuck [2]int
		for round, at := range []time.Duration{4 * time.Second, 10 * time.Second} {
			for i := range tt.keys {
				if s.ask(at, by(fmt.Sprint(i))).StatusCode == 429 {
					stuck[round]++
				}
			}
		}
		if stuck[0] != stuck[1] || stuck[0] < tt.least || stuck[0] > tt.most {
			t.Errorf("%v: got %v of %d keys refused after 4 and 10 s, want %d to %d, the same", tt.defects, stuck, tt.keys, tt.least, tt.most)
		}
	}
}

// Who is stuck is told the wait that was right when it got stuck: 1 s, for ever.
func TestNoTTLTells(t *testing.T) {
	s := simulate(t, site{limit: "token-bucket{burst=2,rate=1/s}", defects: []string{"no-ttl{p=1}"}})
	s.count(0, 3, same("a"))
	for day := range time.Duration(3) {
		res := s.ask((day+1)*24*time.Hour, by("a"))
		if got := s.header(res, "Retry-After"); res.StatusCode != 429 || got != 1 {
			t.Errorf("day %d: got %d and %d, want 429 and 1", day, res.StatusCode, got)
		}
		if rec := s.last(); !rec.Refused || rec.Before != 0 || rec.After != 0 {
			t.Errorf("day %d: got %+v, want a refusal on an empty bucket", day, rec)
		}
	}
}
