package assertions

import (
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// A wait of nothing is true where the door opens before the answer is there, and a
// lie where the next request is refused again.
func TestZeroWaits(t *testing.T) {
	ms := int64(time.Millisecond)
	told := func(seq, at int64, wait string) results.Hit {
		return results.Hit{Seq: seq, Key: "a", Cost: 1, Sent: at * ms, First: (at + 5) * ms, Done: (at + 5) * ms, Status: 429, Outcome: results.Limited, RetryAfter: wait}
	}
	let := func(seq, at int64) results.Hit {
		return results.Hit{Seq: seq, Key: "a", Cost: 1, Sent: at * ms, First: (at + 5) * ms, Done: (at + 5) * ms, Status: 200, Outcome: results.Admitted}
	}
	tests := []struct {
		name   string
		hits   []results.Hit
		status results.Status
		level  results.Level
	}{
		{"told to wait", []results.Hit{let(1, 0), told(2, 10, "1")}, results.Kept, results.Must},
		{"the door opened", []results.Hit{let(1, 0), told(2, 10, "0"), let(3, 20)}, results.Broken, results.Should},
		{"nobody came", []results.Hit{let(1, 0), told(2, 10, "0")}, results.Broken, results.Should},
		{"refused again", []results.Hit{let(1, 0), told(2, 10, "0"), told(3, 20, "0")}, results.Broken, results.Must},
		{"refused again while another was let in", []results.Hit{let(1, 0), told(2, 10, "0"), let(3, 12), told(4, 20, "1")}, results.Broken, results.Should},
		{"refused again within the limiter's step", []results.Hit{let(1, 0), told(2, 10, "0"), told(3, 15, "1")}, results.Broken, results.Should},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := declared(scenarios.Limit{Burst: 1, Rate: scenarios.Rate{Count: 1, Per: time.Second}})
			j, err := New([]scenarios.Limit{l}, Options{Fresh: true, NoCauses: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range results.Blocks(tt.hits) {
				j.Block(b)
			}
			for _, f := range j.Verdict(&results.Run{Planned: int64(len(tt.hits)), Sent: int64(len(tt.hits))}).Findings {
				if f.Check == CheckPositive && (f.Status != tt.status || f.Level != tt.level) {
					t.Errorf("got %v at level %v, want %v at level %v: %s", f.Status, f.Level, tt.status, tt.level, f.Text)
				}
			}
		})
	}
}
