package main

import (
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

// The reference server keeps what it promises where requests ask for several
// tokens, under each contract that has costs, and a cost that it answers 400 is
// no sign of ill health. A busy machine may send too little to see by.
func TestCostsAreKept(t *testing.T) {
	for _, promise := range [][]string{
		{"--burst", "20", "--rate", "10/s"},
		{"--contract", "gcra", "--burst", "7", "--rate", "5/s"},
		{"--contract", "sliding-log", "--rate", "20/2s"},
		{"--contract", "fixed-window", "--rate", "20/2s"},
	} {
		t.Run(strings.Join(promise, " "), func(t *testing.T) {
			t.Parallel()
			_, r := hammer(t, append([]string{"check", "--cost-header", "X-Cost"}, promise...)...)
			if r.Status != results.Kept && !short(r.Run) {
				t.Errorf("got %v, broken %q, want kept: %s", r.Status, brokenChecks(r), r.Headline)
			}
			if r.Run.Other == 0 {
				t.Errorf("a cost that is too large was not asked for, or not answered 400: %+v", r.Run)
			}
		})
	}
}

// short reports whether this machine was too busy to send a run as planned.
func short(r results.Run) bool { return r.Missed > 0 }

// A server that knows of no costs counts requests.
func TestIgnoredCostsAreBroken(t *testing.T) {
	t.Parallel()
	s := serve(t, "header:X-Api-Key", "token-bucket{burst=20,rate=10/s}")
	promise := []string{"check", s.URL(), "--burst", "20", "--rate", "10/s"}
	if _, r := hammer(t, promise...); r.Status == results.Broken {
		t.Errorf("without costs: got broken %q: %s", brokenChecks(r), r.Headline)
	}
	_, r := hammer(t, append(promise, "--cost-header", "X-Cost")...)
	if !strings.Contains(brokenChecks(r), "bound.upper") {
		t.Errorf("with costs: got %v, broken %q, want bound.upper: %s", r.Status, brokenChecks(r), r.Headline)
	}
}
