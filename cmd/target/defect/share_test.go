package defect_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// A limit of 20 on three instances, 6 each: over one connection 6 pass, over many
// 18. Of 2 on three none does.
func TestShare(t *testing.T) {
	tests := []struct {
		limit     string
		defects   []string
		one, many int
	}{
		{"token-bucket{burst=20,rate=1/h}", nil, 20, 20},
		{"token-bucket{burst=20,rate=1/h}", []string{"share{n=3}"}, 6, 18},
		{"token-bucket{burst=20,rate=1/h}", []string{"share{n=3,route=rr}"}, 18, 18},
		{"token-bucket{burst=2,rate=1/h}", []string{"share{n=3}"}, 0, 0},
		{"fixed-window{rate=2/h,align=start}", []string{"share{n=3}"}, 0, 0},
		{"gcra{burst=20,rate=1/h}", []string{"share{n=3}"}, 6, 18},
		{"meter{burst=20,rate=1/h}", []string{"share{n=3}"}, 6, 18},
		{"queue{burst=19,rate=100/s}", []string{"share{n=5}"}, 4, 20}, // 3 wait and 1 does not
		{"lumps{burst=20,rate=2/h}", []string{"share{n=3}"}, 6, 18},
		{"fixed-window{rate=20/h,align=start}", []string{"share{n=3}"}, 6, 18},
		{"sliding-log{rate=20/h}", []string{"share{n=3}"}, 6, 18},
		{"sliding-counter{rate=20/h,align=start}", []string{"share{n=3}"}, 6, 18},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: tt.limit, defects: tt.defects})
		admitted := map[string]int{}
		for i := range 200 {
			for key, r := range map[string]*http.Request{"one": over(0, "one"), "many": over(i%50, "many")} {
				s.Arrive(0, r, func(_ time.Duration, w *http.Response) {
					if w.StatusCode == 200 {
						admitted[key]++
					}
				})
			}
		}
		s.Advance(time.Second)
		if admitted["one"] != tt.one || admitted["many"] != tt.many {
			t.Errorf("%s %v: got %d over one connection and %d over many, want %d and %d", tt.limit, tt.defects, admitted["one"], admitted["many"], tt.one, tt.many)
		}
	}
}

// An instance tells the limit of all and what is left of its own part. A cost
// that its part never has, and the whole limit would, is refused.
func TestShareTells(t *testing.T) {
	s := simulate(t, site{
		limit: "token-bucket{burst=20,rate=1/h}", defects: []string{"share{n=3}"}, costHeader: "X-Cost",
		answers: dialect.Settings{Fields: []string{"x-ratelimit", "draft"}},
	})
	res := s.ask(0, by("a"))
	got := fmt.Sprintf("%s %s %s", res.Header.Get("X-RateLimit-Limit"), res.Header.Get("X-RateLimit-Remaining"), res.Header.Get("RateLimit-Policy"))
	if want := `20 5 "limit-1";q=20;w=72000`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for cost, want := range map[string]int{"7": 429, "20": 429, "21": 400, "0": 400} {
		if got := s.ask(0, request("/", "X-Api-Key", "a", "X-Cost", cost)).StatusCode; got != want {
			t.Errorf("cost %s: got %d, want %d", cost, got, want)
		}
	}
}
