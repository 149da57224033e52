package assertions

import (
	"fmt"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// A queue that nobody fills shows all the same how fast it releases: what is said
// to be seen is seen, and where a queue has nothing to hold back nothing is said.
func TestSightOfAQueueThatIsNeverFull(t *testing.T) {
	l := declaredAs(t, scenarios.Queue, 60, "5/s")
	judged := func(rate string, p scenarios.Phase) results.Verdict {
		s := scenarios.Scenario{Limits: []scenarios.Limit{l}, Phases: []scenarios.Phase{p}, Seed: 1}
		plan, err := s.Plan(scenarios.Supply{})
		if err != nil {
			t.Fatal(err)
		}
		j, err := New(s.Limits, Options{Fresh: true, NoCauses: true})
		if err != nil {
			t.Fatal(err)
		}
		server := serverOf(algorithm(t, "queue{burst=60,rate="+rate+"}"), 1)
		for _, b := range virtual.Run(plan, virtual.Client{Answers: l.Answers, Slack: l.Slack, Timeout: time.Minute}, virtual.LAN(), server, 1) {
			j.Block(b)
		}
		return j.Verdict(&results.Run{})
	}
	volley := scenarios.Phase{Name: "volley", Volley: 30, Keys: scenarios.Keys{Fresh: 3}}
	v := judged("5/s", volley)
	r := v.Resolutions[0]
	if r.RateHigh == nil || *r.RateHigh > 5.05 {
		t.Fatalf("thirty releases 200 ms apart: a rate from %v on would have been seen, want 5.05 or less", r.RateHigh)
	}
	// One that is faster by what would have been seen.
	v = judged(fmt.Sprintf("%d/1000s", int64(*r.RateHigh*1000*1.001)+1), volley)
	if v.Status != results.Broken {
		t.Errorf("a queue of %.4f/s is %v", *r.RateHigh*1.001, v.Status)
	}
	below := scenarios.Phase{Name: "below", Pace: scenarios.Rate{Count: 4, Per: time.Second}, Count: 40, Keys: scenarios.Keys{Fresh: 1}}
	if r := judged("5/s", below).Resolutions[0]; r.RateHigh != nil {
		t.Errorf("below the rate: a rate from %v on would have been seen, want none", *r.RateHigh)
	}
}
