package defect_test

import (
	"slices"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// Of 10 tokens 8 are had, 5 refused, and then 1 asked for: the two that were left
// are there, or gone. The wait of the refusal is true either way: 3 s until there
// are 5, or 5 s.
func TestOversizeDrains(t *testing.T) {
	tests := []struct {
		limit    string
		defects  []string
		statuses []int
		wait     int64
	}{
		{"token-bucket{burst=10,rate=1/s}", nil, []int{200, 429, 200}, 3},
		{"token-bucket{burst=10,rate=1/s}", []string{"oversize-drains"}, []int{200, 429, 429}, 5},
		{"sliding-log{rate=10/1m}", nil, []int{200, 429, 200}, 60},
		{"sliding-log{rate=10/1m}", []string{"oversize-drains"}, []int{200, 429, 429}, 60},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: tt.limit, defects: tt.defects, costHeader: "X-Cost", answers: dialect.Settings{Fields: []string{"x-ratelimit"}}})
		var statuses []int
		for _, cost := range []string{"8", "5", "1"} {
			res := s.ask(0, request("/", "X-Api-Key", "a", "X-Cost", cost))
			statuses = append(statuses, res.StatusCode)
			if cost == "5" && s.header(res, "Retry-After") != tt.wait {
				t.Errorf("%s %v: got Retry-After %s, want %d", tt.limit, tt.defects, res.Header.Get("Retry-After"), tt.wait)
			}
		}
		if !slices.Equal(statuses, tt.statuses) {
			t.Errorf("%s %v: got %v, want %v", tt.limit, tt.defects, statuses, tt.statuses)
		}
	}
}
