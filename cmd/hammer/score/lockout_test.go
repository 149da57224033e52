package score

import (
	"slices"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// Each way of going by the wall clock is locked out by a step back or is not, and the
// silence tells which kind it is.
func TestLockouts(t *testing.T) {
	const bucket, window, level = "locks a bucket on the wall clock", "locks windows, logs and keys", "what came since it was last asked"
	tests := []struct {
		limit, defect string
		says          string // empty: nobody is locked out
	}{
		{"token-bucket{burst=10,rate=5/s}", "", ""},
		{"token-bucket{burst=10,rate=5/s}", "wall-clock{form=naive}", bucket},
		{"token-bucket{burst=10,rate=5/s}", "wall-clock{form=max}", bucket},
		{"token-bucket{burst=10,rate=5/s}", "wall-clock{form=floor}", level},
		{"token-bucket{burst=10,rate=5/s}", "wall-clock{form=clamp}", level},
		{"gcra{burst=10,rate=5/s}", "wall-clock", bucket},
		{"fixed-window{rate=10/2s,align=first-hit}", "wall-clock", window},
		{"fixed-window{rate=10/2s,align=first-hit}", "", ""},
		{"sliding-log{rate=10/2s}", "wall-clock", window},
		{"sliding-log{rate=10/2s}", "", ""},
	}
	d, err := library.ParseDisturbance("step=-6s", true)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		m, err1 := mode.Parse(tt.limit)
		k, err2 := key.Parse("header:X-Api-Key")
		l := server.Limit{Name: server.DefaultName, Algorithm: m, Key: k}
		if tt.defect != "" {
			defect, err := mode.Parse(tt.defect)
			if err != nil {
				t.Fatal(err)
			}
			l.Defects = []mode.Mode{defect}
		}
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		sc, blocks, run := disturbRecord(t, l, 5, []library.Disturbance{d}, func(l *scenarios.Limit) {
			if strings.Contains(tt.limit, "first-hit") {
				l.Align = scenarios.AlignFirstHit
			}
		}, func(_, planned []scenarios.Action) []scenarios.Action { return slices.Clone(planned) })
		j, err := assertions.New(sc.Limits, assertions.Options{Fresh: true, NoCauses: true, NoResolution: true, Phases: sc.Phases})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks {
			j.Block(b)
		}
		f := findingOf(j.Verdict(&run), assertions.CheckLockout)
		if broken := f.Status == results.Broken; broken != (tt.says != "") || !strings.Contains(f.Text, tt.says) {
			t.Errorf("%s %s: got %v: %s", tt.limit, tt.defect, f.Status, f.Text)
		}
	}
}
