package assertions

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// A client that was suspended for ten seconds sees a right limiter admit too
// much, and its Retry-After come true too early, unless it knows.
func TestSuspensionIsNotBlamedOnTheServer(t *testing.T) {
	const slept = int64(10 * time.Second)
	for seed := range uint64(50) {
		w := newWorld(seed, promised(10, 5, time.Second), 5*time.Millisecond)
		w.fire(w.standard())
		// Take ten seconds out of the client's clock, somewhere.
		from := int64(2*time.Second) + int64(seed)*int64(100*time.Millisecond)
		shift := func(at int64) int64 {
			if at != results.Never && at > from {
				return max(from, at-slept)
			}
			return at
		}
		for i := range w.hits {
			h := &w.hits[i]
			h.Sent, h.First, h.Done = shift(h.Sent), shift(h.First), shift(h.Done)
		}
		mark := results.Mark{At: from - int64(10*time.Millisecond), To: from + int64(10*time.Millisecond), Kind: results.MarkSleep, Size: slept}
		if v := w.judgeWith(t, Options{Fresh: true}, mark); v.Status == results.Broken {
			t.Fatalf("seed %d: %q", seed, broken(v))
		}
		if seed == 0 { // without the mark it must look broken, else the test shows nothing
			if v := w.judgeWith(t, Options{Fresh: true}); v.Status != results.Broken {
				t.Errorf("without the mark: got %v", v.Status)
			}
		}
	}
}

// A record with a hole must not accuse: what was spent in the hole is unknown.
func TestHoleIsNotBlamedOnTheServer(t *testing.T) {
	accused := 0
	for seed := range uint64(300) {
		w := newWorld(seed, promised(10, 5, time.Second), 20*time.Millisecond)
		w.fire(w.standard())
		rng := rand.New(rand.NewPCG(seed, 7))
		from := rng.Int64N(int64(8 * time.Second))
		to := from + rng.Int64N(int64(2*time.Second))
		hole := results.Mark{At: from, To: to, Kind: results.MarkLost}
		kept := w.hits[:0]
		for _, h := range w.hits {
			if h.Done < from || h.Sent > to {
				kept = append(kept, h)
				continue
			}
			hole.At, hole.To = min(hole.At, h.Sent), max(hole.To, h.Done)
		}
		w.hits = kept
		if v := w.judgeWith(t, Options{Fresh: true, Linger: time.Millisecond}, hole); v.Status == results.Broken {
			t.Fatalf("seed %d, hole from %v to %v: %q", seed, time.Duration(from), time.Duration(to), broken(v))
		}
		if v := w.judgeWith(t, Options{Fresh: true}); v.Status == results.Broken {
			accused++
		}
	}
	if accused == 0 {
		t.Errorf("without the mark no record was accused: the test shows nothing")
	}
}

// A cut record ends in a hole that reaches to the end.
func TestCutRecordIsNotBlamedOnTheServer(t *testing.T) {
	for seed := range uint64(100) {
		w := newWorld(seed, promised(10, 5, time.Second), 50*time.Millisecond)
		w.fire(w.standard())
		cut := int64(seed) * int64(50*time.Millisecond)
		low := int64(math.MaxInt64)
		kept := w.hits[:0]
		for _, h := range w.hits {
			if h.Done <= cut {
				kept = append(kept, h)
			} else {
				low = min(low, h.Sent)
			}
		}
		w.hits = kept
		if v := w.judgeWith(t, Options{Fresh: true}, results.Mark{At: low, To: results.Never, Kind: results.MarkLost}); v.Status == results.Broken {
			t.Fatalf("seed %d: %q", seed, broken(v))
		}
	}
}

// A service that is gone for a part of the run has not been asked the questions
// of that part, however well it answered the others.
func TestLostPhaseIsInconclusive(t *testing.T) {
	run := results.Run{Planned: 100, Sent: 100, Admitted: 80, Limited: 10, Unknown: 10,
		Phases: []results.Count{{Name: "volley", Planned: 60, Sent: 60}, {Name: "idle", Planned: 40, Sent: 40, Lost: 10}}}
	if f := fitness(&run, true, &tally{}); f.Status != results.Inconclusive || !strings.Contains(f.Text, "of phase idle 10 of 40") {
		t.Errorf("got %v: %s", f.Status, f.Text)
	}
	run.Phases[1].Lost = 8
	if f := fitness(&run, true, &tally{}); f.Status != results.Kept {
		t.Errorf("a fifth: got %v: %s", f.Status, f.Text)
	}
	run.Phases[0].Sent = 50
	if f := fitness(&run, true, &tally{}); f.Status != results.Kept || !strings.Contains(f.Text, "of volley less than planned") {
		t.Errorf("missed shots that nothing hangs on: got %v: %s", f.Status, f.Text)
	}
	if f := fitness(&run, false, &tally{}); f.Status != results.Inconclusive {
		t.Errorf("missed shots: got %v: %s", f.Status, f.Text)
	}
	killed := results.Run{Path: results.NotOnRecord, Stopped: "the run was not ended properly"}
	if f := fitness(&killed, false, &tally{}); f.Status != results.Inconclusive || !strings.Contains(f.Text, "what was sent is not known") {
		t.Errorf("got %+v, want it to say that what was sent is not known", f)
	}
}

// Who waits in vain for answers is not told that they need declaring.
func TestSilenceIsNotTakenForUndeclaredAnswers(t *testing.T) {
	tests := []struct {
		name  string
		first time.Duration // of those that were neither admitted nor refused; negative: never
		done  time.Duration
		want  string
	}{
		{"never answered", -1, 10 * time.Second, "60 of 100 requests were not answered within 10 s"},
		{"refused by the machine", -1, time.Millisecond, "its answers need declaring"},
		{"answered by something else", time.Millisecond, time.Millisecond, "its answers need declaring"},
	}
	for _, tt := range tests {
		j, err := New([]scenarios.Limit{promised(100, 5, time.Second)}, Options{Fresh: true, NoCauses: true})
		if err != nil {
			t.Fatal(err)
		}
		var hits []results.Hit
		for n := range int64(100) {
			h := results.Hit{Seq: n + 1, Key: "k", Cost: 1, Sent: n, First: n + 10, Done: n + 10, Outcome: results.Admitted}
			if n < 60 {
				h.Outcome, h.First, h.Done = results.Unknown, n+int64(tt.first), n+int64(tt.done)
				if tt.first < 0 {
					h.First = results.Never
				}
			}
			hits = append(hits, h)
		}
		j.Block(results.Block{Hits: hits, Low: results.Never})
		if f := j.Verdict(&results.Run{Planned: 100, Sent: 100}).Findings[0]; f.Status != results.Inconclusive || !strings.Contains(f.Text, tt.want) {
			t.Errorf("%s: got %v: %s", tt.name, f.Status, f.Text)
		}
	}
}

// A run that ends with the first proof was fired as it was to be, when it is broken. One
// that missed a part of what came due was not, and one that proves nothing ended early.
func TestProofEndsARunThatIsFit(t *testing.T) {
	hit := func(seq, sent int64) results.Hit {
		return results.Hit{Seq: seq, Key: "a", Cost: 1, Sent: sent, First: sent + 1, Done: sent + 1, Outcome: results.Admitted}
	}
	hits := []results.Hit{hit(1, 0), hit(2, 20)}
	tests := []struct {
		name    string
		burst   int64
		stopped string
		missed  int64
		want    results.Status
	}{
		{"proven", 1, results.StoppedByProof, 0, results.Kept},
		{"proven, and missed", 1, results.StoppedByProof, 3, results.Inconclusive},
		{"not proven", 2, results.StoppedByProof, 0, results.Inconclusive},
		{"interrupted", 1, "interrupted", 0, results.Inconclusive},
	}
	for _, tt := range tests {
		j, err := New([]scenarios.Limit{promised(tt.burst, 1, time.Second)}, Options{Fresh: true, NoCauses: true})
		if err != nil {
			t.Fatal(err)
		}
		j.Block(results.Block{Hits: hits, Low: results.Never})
		v := j.Verdict(&results.Run{Planned: 2 + tt.missed, Sent: 2, Missed: tt.missed, Stopped: tt.stopped, Phases: []results.Count{{Name: "volley", Planned: 2 + tt.missed, Sent: 2}}})
		f := v.Findings[slices.IndexFunc(v.Findings, func(f results.Finding) bool { return f.Check == CheckFitness })]
		if f.Status != tt.want || (v.Status == results.Broken) != (tt.burst == 1) {
			t.Errorf("%s: got %v and the run %v: %s", tt.name, v.Status, f.Status, f.Text)
		}
	}
}
