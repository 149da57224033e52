package assertions

import (
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// What is shown for a breach on one key are that key's requests, also where the
// limit was given no name, as by the flags of a command.
func TestEvidenceIsOfTheKeyConcerned(t *testing.T) {
	hit := func(seq int64, key string, sent int64, o results.Outcome) results.Hit {
		return results.Hit{Seq: seq, Key: key, Cost: 1, Sent: sent, First: sent + 1, Done: sent + 1, Outcome: o}
	}
	tests := []struct {
		name, check string
		burst       int64
		hits        []results.Hit
		want        []int64
	}{
		// Two of key a within 20 ns, where one is allowed; one of key b between them.
		{"too much", CheckUpper, 1, []results.Hit{
			hit(1, "a", 0, results.Admitted), hit(2, "b", 10, results.Admitted), hit(3, "a", 20, results.Admitted), hit(4, "b", 30, results.Limited),
		}, []int64{1, 3}},
		// Key b may have two and is refused its second; what key a spent is no matter.
		{"too little", CheckLower, 2, []results.Hit{
			hit(1, "a", 0, results.Admitted), hit(2, "b", 10, results.Admitted), hit(3, "a", 20, results.Admitted), hit(4, "b", 30, results.Limited),
		}, []int64{2, 4}},
	}
	for _, tt := range tests {
		limits := []scenarios.Limit{promised(tt.burst, 1, time.Second)}
		j, err := New(limits, Options{Fresh: true, NoCauses: true})
		if err != nil {
			t.Fatal(err)
		}
		block := results.Block{Hits: tt.hits, Low: results.Never}
		j.Block(block)
		v := j.Verdict(&results.Run{})
		e := NewEvidence(v, limits)
		e.Block(block)
		for i, hits := range e.Hits() {
			f := v.Findings[i]
			if f.Check != tt.check {
				continue
			}
			if f.Status != results.Broken {
				t.Fatalf("%s: %s is %v", tt.name, f.Check, f.Status)
			}
			var got []int64
			for _, h := range hits {
				got = append(got, h.Seq)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s: requests %v are shown, want %v", tt.name, got, tt.want)
			}
		}
	}
}

// A bucket of 10 is used up at once, and what is refused 1.5 s later is refused
// wrongly: a token comes each second. The proof counts all 10, of which the first is
// answered a moment after it left, with whatever clock step is granted.
func TestEvidenceHoldsTheBurstThatUsedTheBucketUp(t *testing.T) {
	for _, step := range []time.Duration{0, time.Millisecond, 50 * time.Millisecond} {
		for _, per := range []time.Duration{time.Second, 24 * time.Hour} { // ticks of 1 ns, and of more
			l := promised(10, 1, per)
			l.Slack.Quantum = step
			var hits []results.Hit
			for i := range int64(11) {
				sent := i * 1000
				hits = append(hits, results.Hit{Seq: i + 1, Key: "a", Cost: 1, Sent: sent, First: sent + 500_000, Done: sent + 500_000, Outcome: results.Admitted})
			}
			hits[10].Sent = int64(per) * 3 / 2
			hits[10].First, hits[10].Done, hits[10].Outcome = hits[10].Sent+500_000, hits[10].Sent+500_000, results.Limited
			j, err := New([]scenarios.Limit{l}, Options{Fresh: true, NoCauses: true})
			if err != nil {
				t.Fatal(err)
			}
			block := results.Block{Hits: hits, Low: results.Never}
			j.Block(block)
			v := j.Verdict(&results.Run{})
			e := NewEvidence(v, []scenarios.Limit{l})
			e.Block(block)
			shown := e.Hits()
			i := slices.IndexFunc(v.Findings, func(f results.Finding) bool { return f.Check == CheckLower })
			if f := v.Findings[i]; f.Status != results.Broken || len(shown[i]) != 11 || len(f.Seqs) != 11 {
				t.Errorf("step %v, a token in %v: %v, %d requests shown and %d named, want broken and 11: from %d to %d", step, per, f.Status, len(shown[i]), len(f.Seqs), f.FromNS, f.ToNS)
			}
		}
	}
}
