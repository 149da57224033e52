package assertions

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// What a run is unfit by is named: the error or the status that came most often.
func TestMostFrequentReasonIsNamed(t *testing.T) {
	tests := []struct {
		name   string
		lost   func(i int) (status int32, err string)
		lostOf int // of 20 requests; the others are admitted
		want   []string
	}{
		{"errors", func(i int) (int32, string) {
			if i < 4 {
				return 503, ""
			}
			return 0, fmt.Sprintf("read tcp 127.0.0.1:%d->127.0.0.1:80: connection reset by peer", 40000+i)
		}, 20, []string{"20 of 20 requests were answered by neither", `; most often "read tcp: connection reset by peer" (16 times)`}},
		{"a status, in a phase", func(i int) (int32, string) { return 503, "" }, 9,
			[]string{"of phase volley 9 of 20 requests", "; most often status 503 (9 times)"}},
		{"something else each time", func(i int) (int32, string) { return 0, fmt.Sprintf("error %02d", i) }, 20,
			[]string{`; most often "error 00" (once)`}},
	}
	for _, tt := range tests {
		j, err := New([]scenarios.Limit{promised(100, 5, time.Second)}, Options{Fresh: true})
		if err != nil {
			t.Fatal(err)
		}
		var hits []results.Hit
		for i := range 20 {
			at := int64(i) * 1000
			h := results.Hit{Seq: int64(i) + 1, Key: "a", Cost: 1, Sent: at, First: at + 1, Done: at + 1, Outcome: results.Admitted, Status: 200}
			if i < tt.lostOf {
				h.Outcome = results.Unknown
				h.Status, h.Err = tt.lost(i)
			}
			hits = append(hits, h)
		}
		j.Block(results.Block{Hits: hits, Low: results.Never})
		v := j.Verdict(&results.Run{Planned: 20, Sent: 20, Phases: []results.Count{{Name: "volley", Planned: 20, Sent: 20}}})
		f := v.Findings[slices.IndexFunc(v.Findings, func(f results.Finding) bool { return f.Check == CheckFitness })]
		for _, want := range tt.want {
			if f.Status != results.Inconclusive || !strings.Contains(f.Text, want) {
				t.Errorf("%s: got %v: %s, want %q", tt.name, f.Status, f.Text, want)
			}
		}
	}
}

// However many things a server says, what is kept of them is bounded.
func TestReasonsAreBounded(t *testing.T) {
	var l losses
	for i := range 10_000 {
		l.count(&results.Hit{Err: fmt.Sprint(i, strings.Repeat("x", 1000))})
	}
	if len(l.all) != mostReasons {
		t.Errorf("got %d reasons, want %d", len(l.all), mostReasons)
	}
	for why := range l.all {
		if len(why) > longestReason+10 {
			t.Errorf("a reason has %d bytes", len(why))
		}
	}
}
