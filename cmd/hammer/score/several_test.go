package score

import (
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/defect"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/results"
)

// Of two limits that hold together each is asked: one that is off is seen, whichever
// it is, and two that are right are kept.
func TestEachOfSeveralLimitsIsAsked(t *testing.T) {
	right, err := shown(defect.On{Limit: "token-bucket{burst=10,rate=5/s}", Beside: "fixed-window{rate=60/30s,align=first-hit}"})
	if err != nil {
		t.Fatal(err)
	}
	trial := Trial{Network: network(time.Millisecond), Seed: 3}
	o, err := Run(right, trial)
	if err != nil || o.Status != results.Kept {
		t.Errorf("two that are right: got %v, %v: %s", o.Status, err, o.Headline)
	}
	t.Logf("%s", o.Headline)
	for i := range right.Config.Limits {
		for _, text := range []string{"off-by-one{delta=+1}", "off-by-one{delta=-1}", "rate{ppm=+20000}", "rate{ppm=-20000}"} {
			m, err := mode.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			wrong := right
			wrong.Config.Limits = slices.Clone(right.Config.Limits)
			wrong.Config.Limits[i].Defects = []mode.Mode{m}
			o, err := Run(wrong, trial)
			t.Logf("limit %d, %s: %v, %d requests: %s", i+1, text, o.Status, o.Requests, o.Headline)
			if err != nil || o.Status != results.Broken {
				t.Errorf("limit %d made wrong by %s: got %v, %v: %s", i+1, text, o.Status, err, o.Headline)
			}
		}
	}
}
