package setup

import (
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
)

// Nodes, their stores, the front and the clocks are said as flags say them.
func TestNodes(t *testing.T) {
	cfg, err := Parse("x.yaml", []byte(`
nodes: 3
node-store: lagging{lag=500ms}
front: sticky{by=header:X-Api-Key}
clock:
  - at 5s step -10s; node 2 rate 50ppm
  - node 3 at 1m freeze
limits: [{name: a, algorithm: "token-bucket{burst=1,rate=1/s}", best-effort: true, store: "memory{persist=/tmp/x,down=open}"}]
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []clock.Scripted{
		{Node: 0, Event: clock.Event{At: 5 * time.Second, Action: clock.Step, By: -10 * time.Second}},
		{Node: 2, Event: clock.Event{Action: clock.Rate, PPM: 50}},
		{Node: 3, Event: clock.Event{At: time.Minute, Action: clock.Freeze}},
	}
	if cfg.Nodes != 3 || cfg.NodeStore.String() != "lagging{lag=500ms}" || cfg.Front.String() != "sticky{by=header:X-Api-Key}" || !cfg.Limits[0].BestEffort {
		t.Errorf("got %+v", cfg)
	}
	if len(cfg.Clock) != len(want) {
		t.Fatalf("got %v, want %v", cfg.Clock, want)
	}
	for i := range want {
		if cfg.Clock[i] != want[i] {
			t.Errorf("got %+v, want %+v", cfg.Clock[i], want[i])
		}
	}
}

func TestNodesErrors(t *testing.T) {
	const limit = "limits: [{name: a, algorithm: \"token-bucket{burst=1,rate=1/s}\"}]\n"
	for text, says := range map[string]string{
		"nodes: 65\n":                                   "1:8",
		"node-store: sharing\n":                         "there are shared, separate",
		"node-store: lagging\n":                         "lag: is missing",
		"front: \"sticky{by=x}\"\n":                     "by: key",
		"clock: [step 1s, at 5s jump]\n":                "1:18",
		"clock: node 2 step 1s\n":                       "there is no node 2",
		"nodes: 2\nlisteners: [{address: 'unix:/x'}]\n": "on one socket",
	} {
		if _, err := Parse("x.yaml", []byte(text+limit)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %v, want an error that says %q", text, err, says)
		}
	}
}
