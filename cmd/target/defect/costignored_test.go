package defect_test

import (
	"net/http"
	"testing"
)

// Of requests for 5 of 10 tokens each 2 pass; where cost is ignored 10.
func TestCostIgnored(t *testing.T) {
	for want, defects := range map[int][]string{2: nil, 10: {"cost-ignored"}} {
		s := simulate(t, site{limit: "token-bucket{burst=10,rate=1/h}", defects: defects, costHeader: "X-Cost"})
		got := s.count(0, 50, func(int) *http.Request { return request("/", "X-Api-Key", "a", "X-Cost", "5") })
		if got != want {
			t.Errorf("%v: got %d admitted, want %d", defects, got, want)
		}
	}
}
