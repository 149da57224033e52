package defect_test

import (
	"slices"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// One request after the other from a full bucket of 10: how many pass, and what
// each leaves.
func TestCharge(t *testing.T) {
	tests := []struct {
		defects []string
		left    []int64
	}{
		{nil, []int64{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
		{[]string{"charge{mult=2,every=1}"}, []int64{8, 6, 4, 2, 0}},
		{[]string{"charge{mult=2,every=3}"}, []int64{9, 8, 6, 5, 4, 2, 1, 0}},
		{[]string{"charge{mult=10}"}, []int64{0}},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: "token-bucket{burst=10,rate=1/h}", defects: tt.defects, answers: dialect.Settings{Fields: []string{"x-ratelimit"}}})
		var left []int64
		for range 20 {
			if res := s.ask(0, by("a")); res.StatusCode == 200 {
				left = append(left, s.header(res, "X-RateLimit-Remaining"))
			}
		}
		if !slices.Equal(left, tt.left) {
			t.Errorf("%v: got %v left, want %v", tt.defects, left, tt.left)
		}
	}
}

// A cost that can be had can still be had, and one that cannot is still the
// caller's mistake.
func TestChargeOfCosts(t *testing.T) {
	s := simulate(t, site{limit: "token-bucket{burst=10,rate=1/h}", defects: []string{"charge{mult=3}"}, costHeader: "X-Cost"})
	for cost, want := range map[string]struct {
		status int
		cost   int64
	}{"2": {200, 6}, "9": {200, 9}, "11": {400, 0}, "0": {400, 0}, "9223372036854775807": {400, 0}} {
		res := s.ask(0, request("/", "X-Api-Key", cost, "X-Cost", cost))
		if res.StatusCode != want.status || want.cost > 0 && s.last().Cost != want.cost {
			t.Errorf("cost %s: got %d, want %d and %d charged", cost, res.StatusCode, want.status, want.cost)
		}
	}
}
