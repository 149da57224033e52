package defect_test

import (
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// A client asks ten times at once and, 20 times, once a second, at 1/3s. What it
// is told to have left has to fall by its cost when it is admitted, never be below
// 0, be 0 with the last that is admitted, and never rise by more than was earned.
func TestRemaining(t *testing.T) {
	tests := []struct {
		defects                 []string
		low, falls, rises, last bool // which of the rules is broken
	}{
		{},
		{defects: []string{"remaining{form=stale}"}, falls: true, last: true},
		{defects: []string{"remaining{form=neg}"}, low: true, rises: true},
		{defects: []string{"remaining{form=burst-only}"}, falls: true, last: true},
		{defects: []string{"remaining{form=random}"}, falls: true, rises: true, last: true},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: "token-bucket{burst=10,rate=1/3s}", defects: tt.defects, answers: dialect.Settings{Fields: []string{"x-ratelimit"}}})
		var low, falls, rises, last bool
		before, status := int64(10), 200
		for i := range 40 {
			at := max(0, time.Duration(i-19)) * time.Second
			res := s.ask(at, by("a"))
			left := s.header(res, "X-RateLimit-Remaining")
			low = low || left < 0
			falls = falls || i < 10 && left != before-1
			rises = rises || left > before+1
			last = last || res.StatusCode == 429 && status == 200 && before != 0
			before, status = left, res.StatusCode
		}
		if low != tt.low || falls != tt.falls || rises != tt.rises || last != tt.last {
			t.Errorf("%v: got below 0 %v, does not fall by one %v, rises by more than earned %v, not 0 at last %v", tt.defects, low, falls, rises, last)
		}
	}
}

// After ten refusals ten are owed, and none once a token has been earned.
func TestRemainingFallsBelowZero(t *testing.T) {
	s := simulate(t, site{limit: "token-bucket{burst=10,rate=1/3s}", defects: []string{"remaining{form=neg}"}, answers: dialect.Settings{Fields: []string{"x-ratelimit"}}})
	s.count(0, 19, same("a"))
	if got := s.header(s.ask(0, by("a")), "X-RateLimit-Remaining"); got != -10 {
		t.Errorf("got %d, want -10", got)
	}
	if got := s.header(s.ask(3*time.Second, by("a")), "X-RateLimit-Remaining"); got != 0 {
		t.Errorf("got %d, want 0", got)
	}
}
