package defect_test

import (
	"testing"
	"time"
)

// 5/s and 20 in 30 s together: 100 requests at 0, and then one each 2 s up to 28 s.
// Right: 5 pass at 0 and leave 15, which is more than the 14 that follow. Wrong:
// what the first limit refuses at 0 uses up the second.
func TestMulti(t *testing.T) {
	for want, defects := range map[int][]string{19: nil, 5: {"multi{atomic=false}"}} {
		s := simulate(t, site{
			limit: "fixed-window{rate=5/1s,align=first-hit}", beside: "fixed-window{rate=20/30s,align=first-hit}", defects: defects,
		})
		got := s.count(0, 100, same("a"))
		for at := 2 * time.Second; at <= 28*time.Second; at += 2 * time.Second {
			got += s.count(at, 1, same("a"))
		}
		if got != want {
			t.Errorf("%v: got %d admitted, want %d", defects, got, want)
		}
	}
}

// The truth says that the limit which did not refuse was charged.
func TestMultiIsTold(t *testing.T) {
	s := simulate(t, site{limit: "token-bucket{burst=1,rate=1/h}", beside: "token-bucket{burst=5,rate=1/h}", defects: []string{"multi"}})
	s.count(0, 2, same("a"))
	if r := s.last(); r.Limit != "limit-2" || r.Admitted || r.Refused || r.Before != 4*r.Unit || r.After != 3*r.Unit {
		t.Errorf("got %+v, want 4 tokens before and 3 after a request that the other limit refused", r)
	}
}
