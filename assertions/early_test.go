package assertions

import (
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Of a record that ends with the first proof nobody concludes that there is no
// limiter, unless more than any race lets through went by.
func TestProofThatComesBeforeARefusal(t *testing.T) {
	tests := []struct {
		name    string
		n       int64
		gap     time.Duration
		stopped string
		want    results.Status
	}{
		{"a volley, to its end", 22, time.Microsecond, "", results.Broken},
		{"a volley, up to the proof", 22, time.Microsecond, results.StoppedByProof, results.Inconclusive},
		{"many at once, up to the proof", 100, time.Microsecond, results.StoppedByProof, results.Inconclusive},
		{"many for long, up to the proof", 100, 50 * time.Millisecond, results.StoppedByProof, results.Broken},
	}
	for _, tt := range tests {
		j, err := New([]scenarios.Limit{promised(10, 5, time.Second)}, Options{Fresh: true})
		if err != nil {
			t.Fatal(err)
		}
		var hits []results.Hit
		for i := range tt.n {
			sent := i * int64(tt.gap)
			hits = append(hits, results.Hit{Seq: i + 1, Key: "a", Cost: 1, Sent: sent, First: sent + 1, Done: sent + 1, Outcome: results.Admitted})
		}
		j.Block(results.Block{Hits: hits, Low: results.Never})
		v := j.Verdict(&results.Run{Planned: tt.n, Sent: tt.n, Stopped: tt.stopped})
		find := func(check string) results.Finding {
			return v.Findings[slices.IndexFunc(v.Findings, func(f results.Finding) bool { return f.Check == check })]
		}
		if v.Status != results.Broken || find(CheckUpper).Status != results.Broken {
			t.Errorf("%s: got %v, and the bound %v", tt.name, v.Status, find(CheckUpper).Status)
		}
		if got := find(CheckEnforced); got.Status != tt.want {
			t.Errorf("%s: got %v: %s", tt.name, got.Status, got.Text)
		}
		absent := len(v.Causes) == 1 && v.Causes[0].ID == CauseAbsent
		if absent != (tt.want == results.Broken) || !absent && len(v.Causes) > 0 {
			t.Errorf("%s: causes are %+v", tt.name, v.Causes)
		}
	}
}
