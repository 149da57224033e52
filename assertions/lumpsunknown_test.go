package assertions

import (
	"fmt"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// A key of which nothing is known may have been drained the moment before: the
// first lump comes only a whole period later, and every refusal until then is right.
func TestLumpsAfterWhatIsNotKnown(t *testing.T) {
	for _, align := range []scenarios.Align{"", scenarios.AlignStart, scenarios.AlignFirstHit} {
		l := declared(scenarios.Limit{Contract: scenarios.Lumps, Burst: 20, Rate: scenarios.Rate{Count: 10, Per: 10 * time.Second}, Align: align})
		at := align
		if at == "" {
			at = scenarios.AlignStart
		}
		server := &virtual.Limited{Algorithm: algorithm(t, fmt.Sprintf("lumps{burst=20,rate=10/10s,align=%s}", at)),
			Now: func(at int64) int64 { return int64(20*time.Second+100*time.Millisecond) + at }}
		for range 30 { // just behind a lump, before the run
			server.Answer(virtual.Request{At: -int64(50 * time.Millisecond), Key: "a", Cost: 1})
		}
		plan := scenarios.Plan{Keys: []string{"a"}}
		var shots []scenarios.Shot
		for i := range int64(150) {
			shots = append(shots, scenarios.Shot{At: i * int64(100*time.Millisecond), Cost: 1})
		}
		plan.Shots = scenarios.ShotsOf(shots)
		j, err := New([]scenarios.Limit{l}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range virtual.Run(plan, virtual.Client{Answers: l.Answers, Slack: l.Slack}, virtual.LAN(), server, 1) {
			j.Block(b)
		}
		if v := j.Verdict(&results.Run{Planned: 150, Sent: 150}); v.Status == results.Broken {
			t.Errorf("lumps from %q: broken: %q", align, broken(v))
		}
	}
}
