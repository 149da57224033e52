package defect_test

import (
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// What is told is not what is kept, which stays 10 at once.
func TestPolicyTold(t *testing.T) {
	tests := []struct {
		defects []string
		policy  string
	}{
		{nil, `"limit-1";q=10;w=2`},
		{[]string{"policy-told{quota=20}"}, `"limit-1";q=20;w=4`},
		{[]string{"policy-told{rate=10/s}"}, `"limit-1";q=10;w=1`},
		{[]string{"policy-told{quota=20,rate=10/s}"}, `"limit-1";q=20;w=2`},
	}
	for _, tt := range tests {
		s := simulate(t, site{defects: tt.defects, answers: dialect.Settings{Fields: []string{"draft"}}})
		if got := s.ask(0, by("a")).Header.Get("RateLimit-Policy"); got != tt.policy {
			t.Errorf("%v: got %s, want %s", tt.defects, got, tt.policy)
		}
		if got := s.count(0, 30, same("b")); got != 10 {
			t.Errorf("%v: got %d admitted, want 10", tt.defects, got)
		}
	}
}
