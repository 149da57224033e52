package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/internal/lab"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
)

// The limiter of a game server, 2 tokens and 2 a second: ten at once at rest,
// then, 1.2 s later, one every 109 ms for 5 s.
func TestNodeGameLimiter(t *testing.T) {
	node := lab.Need(t, "node", "nodejs")
	for _, clock := range []string{"wall", "monotonic"} {
		t.Run(clock, func(t *testing.T) {
			port := lab.Port(t)
			lab.Start(t, port, []string{fmt.Sprintf("PORT=%d", port), "CLOCK=" + clock}, node, "testdata/game.mjs")
			file := filepath.Join(t.TempDir(), "game.yaml")
			src := fmt.Sprintf(`target: http://127.0.0.1:%d/api/turn
request: {method: POST, body: '{"kind": "look"}', headers: ["Content-Type: application/json"]}
limit: {burst: 2, rate: 2/s, key: header:X-Forwarded-For}
phases:
  - {name: ten, at: 300ms, volley: 10}
  - {name: walk, rest: 1.2s, pace: 1/109ms, count: 46, keys: ten}
`, port)
			if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
				t.Fatal(err)
			}
			code, r := steadily(t, func() (int, report.Report) { return hammer(t, "run", file) })
			if code != exitKept {
				t.Errorf("got exit code %d, want 0: %s", code, r.Headline)
			}
			got := [2]map[results.Outcome]int{{}, {}}
			for _, h := range hitsOfRun(t, r.Folder) {
				got[h.Phase][h.Outcome]++
				if h.Outcome == results.Limited && h.RetryAfter != "1" {
					t.Errorf("request %d: got Retry-After %q, want 1", h.Seq, h.RetryAfter)
				}
			}
			if got[0][results.Admitted] != 2 || got[0][results.Limited] != 8 {
				t.Errorf("ten at once: got %v, want 2 admitted and 8 limited", got[0])
			}
			// The bound is 2 + 2 x 5 = 12.
			if got[1][results.Admitted] != 11 || got[1][results.Limited] != 35 {
				t.Errorf("46 in 5 s: got %v, want 11 admitted and 35 limited", got[1])
			}
		})
	}
}

// steadily repeats a run during which the machine's wall clock was corrected: a
// limiter that goes by it really admits too much then, or too little.
func steadily(t *testing.T, run func() (int, report.Report)) (code int, r report.Report) {
	t.Helper()
	for range 3 {
		before := time.Now()
		code, r = run()
		after := time.Now()
		moved := after.Round(0).Sub(before.Round(0)) - after.Sub(before)
		if moved.Abs() < time.Millisecond {
			return code, r
		}
		t.Logf("the machine's wall clock was moved by %v during the run", moved)
	}
	return code, r
}
