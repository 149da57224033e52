package defect_test

import (
	"strings"
	"testing"
)

// A body that is an array of 50 is charged 50, and 1 where a request is one,
// whatever it carries; one of more than the bucket holds can never be admitted.
func TestBatch(t *testing.T) {
	array := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat(`{"op": 1},`, n), ",") + "]" }
	tests := []struct {
		name, body string
		defects    []string
		status     int
		charge     int64 // of those that are admitted
	}{
		{"50", array(50), nil, 200, 50},
		{"50", array(50), []string{"batch{charge=1}"}, 200, 1},
		{"50", array(50), []string{"batch{charge=5}"}, 200, 5},
		{"101", array(101), nil, 400, 0},
		{"101", array(101), []string{"batch"}, 200, 1},
		{"none", array(0), nil, 200, 1},
		{"an object", `{"a": [1, 2, 3]}`, nil, 200, 1},
		{"nested", `[[1, 2, 3], "x"]`, nil, 200, 2},
		{"no body", "", nil, 200, 1},
		{"no JSON", "[1,", nil, 200, 1},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: "token-bucket{burst=100,rate=1/s}", defects: tt.defects, costBody: "array"})
		res := s.ask(0, post("/", tt.body, "X-Api-Key", "a"))
		if res.StatusCode != tt.status || tt.charge > 0 && s.last().Cost != tt.charge {
			t.Errorf("%s %v: got %d, want %d and %d charged", tt.name, tt.defects, res.StatusCode, tt.status, tt.charge)
		}
	}
}
