package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/internal/lab"
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

// Two nodes a second apart share what they write, asked in turn: by their own clocks too
// much is let through, by the monotonic one not.
func TestSkewedNodes(t *testing.T) {
	var all sync.WaitGroup
	defer all.Wait()
	for _, defect := range []string{"", "wall-clock{form=clamp}"} {
		all.Go(func() {
			t.Run(defect, func(t *testing.T) {
				k, err1 := key.Parse("header:X-Api-Key")
				m, err2 := mode.Parse("token-bucket{burst=5,rate=5/s}")
				front, err3 := mode.Parse(fmt.Sprintf("round-robin{address=127.0.0.1:%d}", lab.Port(t)))
				l := server.Limit{Name: server.DefaultName, Algorithm: m, Key: k}
				if defect != "" {
					d, err := mode.Parse(defect)
					if err != nil {
						t.Fatal(err)
					}
					l.Defects = []mode.Mode{d}
				}
				if err1 != nil || err2 != nil || err3 != nil {
					t.Fatal(err1, err2, err3)
				}
				s, err := server.Start(server.Config{Nodes: 2, Front: front, Limits: []server.Limit{l},
					Listeners: []server.Listener{{Address: fmt.Sprintf("127.0.0.1:%d", lab.Port(t))}, {Address: fmt.Sprintf("127.0.0.1:%d", lab.Port(t))}}})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				code, r := hammer(t, "check", s.URL()+"/", "--burst", "5", "--rate", "5/s", "--clock", "skewed-nodes", "--clock-admin", s.AdminURL())
				switch {
				case defect == "" && code == exitBroken:
					t.Errorf("right nodes are accused: %s", r.Headline)
				case defect != "" && (code != exitBroken || len(r.Causes) == 0 || !strings.Contains(r.Causes[0].Text, "nodes whose clocks differ")):
					t.Errorf("got exit code %d, causes %+v", code, r.Causes)
				}
			})
		})
	}
}
