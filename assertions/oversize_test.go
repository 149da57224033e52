package assertions

import (
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// A request that the transport sent twice may have taken the only token there is,
// though both together would cost more than the limit ever holds.
func TestSentTwiceTakesWhatThereIs(t *testing.T) {
	ms := int64(time.Millisecond)
	hits := []results.Hit{
		{Seq: 1, Key: "a", Cost: 2, Sent: 0, First: 5 * ms, Done: 5 * ms, Status: 429, Outcome: results.Unknown, Err: "sent 2 times by the transport"},
		{Seq: 2, Key: "a", Cost: 1, Sent: 20 * ms, First: 25 * ms, Done: 25 * ms, Status: 429, Outcome: results.Limited, RetryAfter: "1"},
	}
	second := scenarios.Rate{Count: 1, Per: time.Second}
	for _, l := range []scenarios.Limit{
		{Contract: scenarios.TokenBucket, Burst: 1, Rate: second}, {Contract: scenarios.SlidingLog, Rate: second},
		{Contract: scenarios.FixedWindow, Rate: second}, {Contract: scenarios.SlidingCounter, Rate: second}, {Contract: scenarios.Lumps, Burst: 1, Rate: second},
	} {
		j, err := New([]scenarios.Limit{declared(l)}, Options{Fresh: true, NoCauses: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range results.Blocks(append([]results.Hit(nil), hits...)) {
			j.Block(b)
		}
		if v := j.Verdict(&results.Run{Planned: 2, Sent: 2}); v.Status == results.Broken {
			t.Errorf("%s: accused: %s", l.Contract, v.Headline)
		}
	}
}
