package assertions

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// What is proven while a run goes on is told with its key and its numbers, and telling it
// changes nothing in the verdict.
func TestProofIsToldMeanwhile(t *testing.T) {
	limit := scenarios.Limit{Burst: 2, Rate: scenarios.Rate{Count: 1, Per: time.Second}, Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}}
	hit := func(seq, at int64, o results.Outcome, after string) results.Hit {
		at *= int64(time.Millisecond)
		return results.Hit{Seq: seq, Key: "volley/1", Cost: 1, Planned: at, Sent: at, First: at + 1000, Done: at + 1000, Status: 200, Outcome: o, RetryAfter: after}
	}
	tests := []struct {
		name string
		hits []results.Hit
		want string // of the proof; empty: there is none
	}{
		{"three at once", []results.Hit{hit(1, 1, results.Admitted, ""), hit(2, 2, results.Admitted, ""), hit(3, 3, results.Admitted, "")}, "3 requests admitted within"},
		{"refused too early", []results.Hit{hit(1, 1, results.Admitted, ""), hit(2, 2, results.Limited, "1")}, "request 2 was refused although"},
		{"a Retry-After of nothing", []results.Hit{hit(1, 1, results.Admitted, ""), hit(2, 2, results.Admitted, ""), hit(3, 3, results.Limited, "abc")}, "on 1 of 1 refusal, first on request 3"},
		{"two at once", []results.Hit{hit(1, 1, results.Admitted, ""), hit(2, 2, results.Admitted, "")}, ""},
	}
	for _, tt := range tests {
		verdict := func(asks bool) results.Verdict {
			j, err := New([]scenarios.Limit{limit}, Options{Fresh: true, NoCauses: true, NoResolution: true})
			if err != nil {
				t.Fatal(err)
			}
			j.Block(results.Block{Hits: tt.hits, Low: int64(10 * time.Minute)})
			j.Block(results.Block{Low: int64(20 * time.Minute)})
			if asks {
				f, ok := j.Proof()
				if ok != (tt.want != "") || !strings.Contains(f.Text, tt.want) || ok && (f.Key != "volley/1" || f.Status != results.Broken) {
					t.Errorf("%s: got %v, %+v, want %q", tt.name, ok, f, tt.want)
				}
			}
			n := int64(len(tt.hits))
			return j.Verdict(&results.Run{Planned: n, Sent: n})
		}
		if asked, not := verdict(true), verdict(false); !reflect.DeepEqual(asked, not) {
			t.Errorf("%s: after the proof was asked for the verdict is\n%+v\nand else\n%+v", tt.name, asked, not)
		}
	}
}
