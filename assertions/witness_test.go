package assertions

import (
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// What shows that no beginning of periods explains a record says where and when,
// and is by itself enough: judged alone it is broken as well.
func TestWindowsAreRefutedByAWitness(t *testing.T) {
	aligned := func(l scenarios.Limit) scenarios.Limit {
		l.Align = scenarios.AlignStart
		return l
	}
	tests := []struct {
		algorithm string
		as        scenarios.Limit
	}{
		{"fixed-window{rate=20/2s,align=first-hit}", aligned(declaredAs(t, scenarios.FixedWindow, 0, "20/2s"))},
		{"lumps{burst=20,rate=10/1020ms}", declaredAs(t, scenarios.Lumps, 20, "10/1s")},
		{"lumps{burst=20,rate=10/1020ms}", aligned(declaredAs(t, scenarios.Lumps, 20, "10/1s"))},
		{"token-bucket{burst=20,rate=10/s}", declaredAs(t, scenarios.Lumps, 20, "10/1s")},
		{"sliding-log{rate=20/2s}", declaredAs(t, scenarios.FixedWindow, 0, "20/2s")},
		{"sliding-log{rate=20/2s}", declaredAs(t, scenarios.SlidingCounter, 0, "20/2s")},
	}
	const most = 200 // requests of the thousand that are fired
	for _, tt := range tests {
		l := tt.as
		found := false
		for seed := range uint64(4) {
			j, run := triedOf(t, serverOf(algorithm(t, tt.algorithm), seed), l, virtual.LAN(), seed)
			v := j.Verdict(run)
			i := slices.IndexFunc(v.Findings, func(f results.Finding) bool { return f.Check == CheckWindow && f.Status == results.Broken })
			if i < 0 {
				continue // a bound is broken already
			}
			found = true
			f := v.Findings[i]
			if len(f.Seqs) == 0 || len(f.Seqs) > most || f.ToNS <= f.FromNS || f.Proof == "" {
				t.Errorf("%s as %v, seed %d: %d requests from %d to %d, %q", tt.algorithm, l, seed, len(f.Seqs), f.FromNS, f.ToNS, f.Proof)
				continue
			}
			t.Logf("%s as %v, seed %d: key %q, %s", tt.algorithm, l, seed, f.Key, f.Proof)
			if alone := j.sample.only(func(h *sampled) bool { return slices.Contains(f.Seqs, h.seq) }); !alone.try(alone.moments(), j.limits, 0) {
				t.Errorf("%s as %v, seed %d: the requests that prove it do not do so alone", tt.algorithm, l, seed)
			}
			if f.Key != "" && slices.ContainsFunc(j.sample.hits, func(h sampled) bool { return slices.Contains(f.Seqs, h.seq) && j.sample.names[h.key] != f.Key }) {
				t.Errorf("%s as %v, seed %d: requests on other keys than %s", tt.algorithm, l, seed, f.Key)
			}
		}
		if !found {
			t.Errorf("%s as %v: bound.window was broken on no seed", tt.algorithm, l)
		}
	}
}

// Ten are drained within 80 ms, and one is refused 0.95 s later. For lumps of five
// every second a lump would have to fall right behind the drain; but then one of
// the ten was decided before it, and there is one more.
func TestWitnessIsSmall(t *testing.T) {
	l := declaredAs(t, scenarios.Lumps, 10, "5/1s")
	var hits []results.Hit
	add := func(key string, sent, first time.Duration, o results.Outcome) {
		hits = append(hits, results.Hit{Seq: int64(len(hits) + 1), Key: key, Cost: 1, Sent: int64(sent), First: int64(first), Done: int64(first), Outcome: o})
	}
	add("other", 300*time.Millisecond, 301*time.Millisecond, results.Admitted)
	for n := range time.Duration(10) {
		add("drained", (404+n)*time.Millisecond, (430+5*n)*time.Millisecond, results.Admitted)
	}
	for n := range time.Duration(20) {
		add("drained", (500+45*n)*time.Millisecond, (502+45*n)*time.Millisecond, results.Limited)
	}
	add("drained", 1436*time.Millisecond, 1438*time.Millisecond, results.Limited)
	j, err := New([]scenarios.Limit{l}, Options{Fresh: true, NoCauses: true})
	if err != nil {
		t.Fatal(err)
	}
	j.Block(results.Block{Hits: hits, Low: results.Never})
	for _, f := range j.Verdict(&results.Run{}).Findings {
		if f.Check != CheckWindow {
			continue
		}
		if f.Status != results.Broken || f.Key != "drained" || len(f.Seqs) != 11 || f.FromNS != int64(404*time.Millisecond) || f.ToNS != int64(1438*time.Millisecond) {
			t.Errorf("got %v on key %q from %d to %d: %v, want the ten and the last refusal", f.Status, f.Key, f.FromNS, f.ToNS, f.Seqs)
		}
	}
}
