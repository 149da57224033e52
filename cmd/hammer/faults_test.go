package main

import (
	"strings"
	"sync"
	"testing"

	"github.com/ratehammer/ratehammer/assertions"
)

// Things are done to the reference server inside this process, right and wrong.
func TestDisturbances(t *testing.T) {
	tests := []struct {
		name  string
		args  []string
		wrong bool   // it has to be broken; else it must not be
		cause string // id; empty: there is none
		says  string // in the account of what was done
	}{
		{"a right one whose clock goes and comes", []string{"--clock", "away-and-back"}, false, "", "stepped by -1.0"},
		{"a wall clock that goes and comes", []string{"--clock", "away-and-back", "--defect", "wall-clock"}, true, assertions.CauseClock, "runs as before"},
		{"a wall clock that goes forward", []string{"--clock", "step=30s", "--defect", "wall-clock"}, true, assertions.CauseClock, "stepped by 30s"},
		{"fresh budgets behind a restart", []string{"--faults", "restart"}, true, assertions.CauseActed, "is restarted"},
		{"fresh budgets, as declared", []string{"--faults", "restart", "--expect", "fresh"}, false, "", "is restarted"},
		{"a reload", []string{"--faults", "reload"}, false, "", "reads its configuration again"},
		{"a reload that forgets", []string{"--faults", "reload", "--defect", "reload{keep=false}"}, true, assertions.CauseActed, "reads its configuration again"},
	}
	var all sync.WaitGroup
	defer all.Wait()
	for _, tt := range tests {
		all.Go(func() {
			t.Run(tt.name, func(t *testing.T) {
				code, r := hammer(t, append([]string{"check", "--burst", "5", "--rate", "5/s"}, tt.args...)...)
				if broken := code == exitBroken; broken != tt.wrong {
					t.Errorf("got exit code %d: %s", code, r.Headline)
				}
				if tt.wrong && (len(r.Causes) == 0 || r.Causes[0].ID != tt.cause) {
					t.Errorf("got causes %+v, want %s", r.Causes, tt.cause)
				}
				told := ""
				for _, f := range r.Findings {
					if f.Check == assertions.CheckActed {
						told = f.Text
					}
				}
				if !strings.Contains(told, tt.says) {
					t.Errorf("got %q, want it to say %q", told, tt.says)
				}
			})
		})
	}
}
