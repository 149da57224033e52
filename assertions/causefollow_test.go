package assertions

import (
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Lumps of another size are no race, however many requests overlap where they come.
func TestLargerLumpsAreNoRace(t *testing.T) {
	l := declared(scenarios.Limit{Contract: scenarios.Lumps, Burst: 10, Rate: scenarios.Rate{Count: 4, Per: time.Second}})
	for _, text := range []string{"lumps{burst=10,rate=5/1s,align=start}", "lumps{burst=10,rate=5/1s,align=first-hit}"} {
		v := suspected(t, &virtual.Limited{Algorithm: algorithm(t, text)}, l, virtual.LAN(), 1)
		if len(v.Causes) == 0 || v.Causes[0].ID != CauseRate || v.Causes[0].Rate != "5/1s" && v.Causes[0].Rate != "5/s" {
			t.Errorf("%s: %v: got %+v, want %s with 5/s", text, broken(v), v.Causes, CauseRate)
		}
	}
}
