package defect_test

import (
	"maps"
	"testing"
)

// 1000 requests with bad JSON, and then valid ones. Where failures are counted 10
// of the 1000 are 400 and 990 are 429, and none of the valid ones passes; where
// they are not, as declared or against it, all are 400 and 10 valid ones pass.
func TestParseFirst(t *testing.T) {
	counted, free := map[int]int{400: 10, 429: 990}, map[int]int{400: 1000}
	tests := []struct {
		mode    string
		defects []string
		broken  map[int]int
		valid   int
	}{
		{"order", nil, free, 10},
		{"order{early=counted}", nil, counted, 0},
		{"order{early=counted}", []string{"parse-first"}, free, 10},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: "token-bucket{burst=10,rate=1/h}", mode: tt.mode, defects: tt.defects})
		broken, valid := map[int]int{}, 0
		for range 1000 {
			broken[s.ask(0, post("/", "{", "X-Api-Key", "a")).StatusCode]++
		}
		for range 20 {
			if s.ask(0, post("/", "{}", "X-Api-Key", "a")).StatusCode == 200 {
				valid++
			}
		}
		if !maps.Equal(broken, tt.broken) || valid != tt.valid {
			t.Errorf("%s %v: got %v and %d valid ones admitted, want %v and %d", tt.mode, tt.defects, broken, valid, tt.broken, tt.valid)
		}
	}
}
