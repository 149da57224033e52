package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Behind real sockets, windows that were promised as a bucket are found at their
// edges, and a bucket is not accused.
func TestBoundaryAttackOverSockets(t *testing.T) {
	tests := []struct {
		limiter, attack string
		broken          bool
	}{
		{"fixed-window{rate=20/1s,align=start}", "{name: edge, attack: boundary, rounds: 1, keys: 2, every: 100ms}", true},
		{"fixed-window{rate=20/1s,align=first-hit}", "{name: edge, attack: boundary, rounds: 1, keys: 2, every: 100ms}", true},
		{"fixed-window{rate=20/1s,align=first-hit}", "{name: edge, attack: pilot}", true},
		{"token-bucket{burst=20,rate=20/s}", "{name: edge, attack: boundary}", false},
		{"token-bucket{burst=20,rate=20/s}", "{name: edge, attack: pilot}", false},
	}
	for _, tt := range tests {
		t.Run(tt.limiter+tt.attack, func(t *testing.T) {
			t.Parallel()
			m, err := mode.Parse(tt.limiter)
			if err != nil {
				t.Fatal(err)
			}
			s, err := server.Start(server.Config{Limit: m, Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			file := filepath.Join(t.TempDir(), "edge.yaml")
			src := fmt.Sprintf("target: %s/\nlimit: {burst: 20, rate: 20/s}\nphases: [%s]\n", s.URL(), tt.attack)
			if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
				t.Fatal(err)
			}
			_, r := hammer(t, "run", file)
			if found := strings.Contains(brokenChecks(r), "bound.upper"); found != tt.broken {
				t.Errorf("got broken %q: %s", brokenChecks(r), r.Headline)
			}
			if n := r.Run.Planned; n != r.Run.Sent+r.Run.Missed+r.Run.InFlight {
				t.Errorf("planned %d is not sent %d + missed %d + in flight %d", n, r.Run.Sent, r.Run.Missed, r.Run.InFlight)
			}
			counts := map[results.Outcome]int{}
			for _, h := range hitsOfRun(t, r.Folder) {
				counts[h.Outcome]++
			}
			t.Log(r.Headline, counts, r.Run.Lateness)
		})
	}
}
