package assertions

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// exactFinding gives the finding of the exact check.
func exactFinding(t *testing.T, v results.Verdict) results.Finding {
	t.Helper()
	for _, f := range v.Findings {
		if f.Check == CheckExact {
			return f
		}
	}
	t.Fatal("there is no finding of the exact check")
	return results.Finding{}
}

// on is a hit on one key, with times in seconds.
func on(seq int64, from, to float64, o results.Outcome) results.Hit {
	end := int64(to * 1e9)
	return results.Hit{Seq: seq, Key: "k", Cost: 1, Sent: int64(from * 1e9), First: end, Done: end, Outcome: o}
}

const (
	let = results.Admitted
	no  = results.Limited
)

func TestExactCheck(t *testing.T) {
	slow := promised(1, 1, 10*time.Second) // one token, one more every ten seconds
	tests := []struct {
		name   string
		limit  scenarios.Limit
		fresh  bool
		hits   []results.Hit
		status results.Status
		level  results.Level
		seqs   []int64
	}{
		// The two must be 10 s apart: the one in [1, 2] has none in [0, 10] that is.
		// No window shows it: in [0, 10] two are admitted, and 1 + 10/10 may be.
		{name: "no window refutes it", limit: slow, hits: []results.Hit{on(1, 0, 10, let), on(2, 1, 2, let)},
			status: results.Broken, seqs: []int64{1, 2}},
		{name: "12 leaves one moment", limit: slow, hits: []results.Hit{on(1, 0, 12, let), on(2, 1, 2, let)}, status: results.Kept},
		// The first at 12 leaves none for 13 to 14.
		{name: "a refusal in between", limit: slow, fresh: true,
			hits: []results.Hit{on(1, 0, 12, let), on(2, 1, 2, let), on(3, 13, 14, no)}, status: results.Kept},
		{name: "requests far away are no part of it", limit: slow, fresh: true,
			hits:   []results.Hit{on(1, 0, 1, let), on(2, 100, 110, let), on(3, 101, 102, let), on(4, 150, 151, let), on(5, 152, 153, no)},
			status: results.Broken, seqs: []int64{2, 3}},
		{name: "a bound is broken", limit: slow, hits: []results.Hit{on(1, 0, 1, let), on(2, 1, 2, let)},
			status: results.Inconclusive, level: results.Info},
		{name: "nothing was sent", limit: slow, status: results.Inconclusive, level: results.Info},
		// Without an answer the second may not have been let in.
		{name: "an unknown outcome", limit: slow, hits: []results.Hit{on(1, 0, 10, let), on(2, 1, 2, results.Unknown)}, status: results.Kept},
	}
	for _, tt := range tests {
		w := newWorld(1, tt.limit, 0)
		w.hits = tt.hits
		f := exactFinding(t, w.judge(t, Options{Fresh: tt.fresh}))
		if f.Status != tt.status || f.Level != tt.level || !slices.Equal(f.Seqs, tt.seqs) {
			t.Errorf("%s: got %v, %v, requests %v, want %v, %v, %v: %s %s", tt.name, f.Status, f.Level, f.Seqs, tt.status, tt.level, tt.seqs, f.Text, f.Proof)
		}
		if f.Status == results.Broken && (f.Key != "k" || !strings.Contains(f.Text, "these 2 requests") || f.FromNS < tt.hits[0].Sent) {
			t.Errorf("%s: got %+v", tt.name, f)
		}
	}
}

// What is not one bucket's promise is not asked.
func TestExactCheckAsksBucketsOnly(t *testing.T) {
	one := promised(5, 5, time.Second)
	window := scenarios.Limit{Contract: scenarios.FixedWindow, Rate: one.Rate, Key: one.Key}
	for _, limits := range [][]scenarios.Limit{{window}, {one, one}} {
		j, err := New(limits, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range j.Verdict(&results.Run{}).Findings {
			if f.Check == CheckExact {
				t.Errorf("%v: got %+v, want no finding", limits, f)
			}
		}
	}
}

// A history that is refuted by a bound is impossible; the share of impossible
// ones that no bound sees is what the exact check is for.
func TestExactCheckSeesWhatBoundsMiss(t *testing.T) {
	for _, jitter := range []int64{3, 10, 30} {
		rng := rand.New(rand.NewPCG(31, uint64(jitter)))
		histories, wrong, missed, open := 4000, 0, 0, 0
		if raced {
			histories = 200
		}
		for n := range histories {
			h := corrupted(rng, jitter)
			refuted := boundsRefute(h, tempo{1, 10}, 3)
			units, bucket := inUnits(h, tempo{1, 10}, 3, true)
			o := ordering{driftingBucket: bucket, budget: 200_000}
			switch o.solve(units) {
			case impossible:
				wrong++
				if !refuted {
					missed++
				}
			case possible:
				if refuted {
					t.Fatalf("history %d %+v: a bound refutes it, the exact check explains it", n, h)
				}
			default:
				open++
			}
		}
		t.Logf("delay up to %d ticks (a token takes 10): %d of %d corrupted histories are impossible, %d of them keep both bounds (%.1f %%), %d beyond the work",
			jitter, wrong, histories, missed, 100*float64(missed)/float64(wrong), open)
		if wrong == 0 || open > histories/100 {
			t.Errorf("delay %d: %d impossible, %d undecided", jitter, wrong, open)
		}
	}
}

// corrupted is a record of a bucket of 3 and a tenth of a token a tick, in which
// one outcome is turned round.
func corrupted(rng *rand.Rand, jitter int64) []brief {
	h := make([]brief, 40)
	level, last, t := 30, int64(0), int64(0)
	for i := range h {
		t += rng.Int64N(8)
		level, last = min(30, level+int(t-last)), t
		h[i] = brief{from: t - rng.Int64N(jitter+1), to: t + rng.Int64N(jitter+1), cost: 1, outcome: results.Limited}
		if level >= 10 {
			level -= 10
			h[i].outcome = results.Admitted
		}
		h[i].from = max(h[i].from, 0)
	}
	b := &h[rng.IntN(len(h))]
	b.outcome = results.Admitted + results.Limited - b.outcome
	return h
}

func boundsRefute(h []brief, p tempo, burst int64) bool {
	b := newBucket(p, burst, p, burst, 0, true, 0)
	for _, m := range play(h) {
		if m.rank < 2 {
			b.start(&h[m.i])
		} else if b.end(&h[m.i]).wrong {
			return true
		}
	}
	return b.heaviest().over
}

// BenchmarkOrdering searches a thousand requests of which ten overlap, in full.
func BenchmarkOrdering(b *testing.B) {
	rng := rand.New(rand.NewPCG(41, 42))
	var h []brief
	level, last := 100, int64(0)
	for i := range int64(1000) { // one every 10 ticks, each 100 long: ten in flight
		at := i*10 + 50
		level, last = min(100, level+int(at-last)/2), at
		x := brief{from: at - 30 - rng.Int64N(40), to: at + 30 + rng.Int64N(40), cost: 1, outcome: results.Limited}
		if level >= 10 {
			level -= 10
			x.outcome = results.Admitted
		}
		h = append(h, x)
	}
	units, bucket := inUnits(h, tempo{1, 20}, 10, true)
	o := ordering{driftingBucket: bucket}
	work := 0
	for b.Loop() {
		o.budget = 10_000_000
		if got := o.solve(units); got != possible {
			b.Fatalf("got %d", got)
		}
		work = 10_000_000 - o.budget
	}
	b.ReportMetric(float64(work), "decisions/op")
}
