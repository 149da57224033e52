package main

import (
	"context"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/reduction"
)

// A search sends no more than it may, and takes no longer, and there is still room to
// try at the end what it has found.
func TestShrinkKeepsToItsBounds(t *testing.T) {
	promise := scenarios.Limit{Burst: 10, Rate: scenarios.Rate{Count: 5, Per: time.Second}, Slack: scenarios.DefaultSlack()}
	whole := &scenarios.Scenario{Seed: 1, Limits: []scenarios.Limit{promise}, Phases: []scenarios.Phase{
		{Name: "volley", Volley: 60, Keys: scenarios.Keys{Fresh: 5}, Every: time.Second}}}
	tests := []struct {
		name   string
		most   int
		lasts  time.Duration
		volley int // that is left; 0: nothing is found
		tries  int // at the end
	}{
		{"enough of both", 100_000, time.Hour, 1, 5},
		// 300 requests have to break it twice, and 60 would need 360 with the tries at the end.
		{"few requests", 900, time.Hour, 60, 1},
		{"little time", 100_000, 8 * time.Second, 1, 5}, // what takes none is tried
		{"not enough for one", 500, time.Hour, 0, 0},
		{"no time", 100_000, 3 * time.Second, 0, 0},
	}
	for _, tt := range tests {
		begun := time.Unix(0, 0)
		now := begun
		k := &shrinker{charge: charge{"bound.upper", ""}, now: func() time.Time { return now }, say: t.Logf, until: begun.Add(tt.lasts), most: tt.most,
			fire: func(_ context.Context, s *scenarios.Scenario) (trialRun, error) {
				size, _ := reduction.SizeOf(s, scenarios.Supply{})
				now = now.Add(size.Length)
				return trialRun{size.Requests, results.Verdict{Findings: []results.Finding{{Check: "bound.upper", Status: results.Broken}}}}, nil
			}}
		found, broke, tries := k.shrink(t.Context(), []*scenarios.Scenario{whole})
		if k.sent > tt.most || now.After(k.until) {
			t.Errorf("%s: %d requests in %v", tt.name, k.sent, now.Sub(begun))
		}
		volley := 0
		if found != nil {
			volley = found.Phases[0].Volley
		}
		if volley != tt.volley || broke != tries || tries != tt.tries {
			t.Errorf("%s: a volley of %d is left, broken in %d of %d tries; want %d and %d", tt.name, volley, broke, tries, tt.volley, tt.tries)
		}
	}
}
