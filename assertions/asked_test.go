package assertions

import (
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// judgedBy fires the standard scenario, and judges it by some checks.
func judgedBy(t *testing.T, server virtual.Server, l scenarios.Limit, wanted int64, run *results.Run, checks ...string) results.Verdict {
	t.Helper()
	s, _ := library.Standard(l, library.Circumstances{Seed: 1})
	plan, err := s.Plan(scenarios.Supply{})
	if err != nil {
		t.Fatal(err)
	}
	j, err := New([]scenarios.Limit{l}, Options{Fresh: true, Wanted: wanted, NoCauses: true, Checks: checks})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range virtual.Run(plan, virtual.Client{Answers: l.Answers, Slack: l.Slack}, virtual.LAN(), server, 1) {
		run.Sent += int64(len(b.Hits))
		j.Block(b)
	}
	run.Planned += run.Sent
	return j.Verdict(run)
}

// A resolution rests on what is asked for, and nothing is kept that the record
// refutes.
func TestSightIsThatOfTheChecksAsked(t *testing.T) {
	tests := []struct {
		name               string
		server             virtual.Server
		limit              scenarios.Limit
		checks             []string
		status             results.Status
		refuted, low, high bool
	}{
		{"too small, and nobody asks", &mutant{burst: 19}, bucket20(), []string{"run", "limit", "key", CheckUpper}, results.Kept, false, false, true},
		{"too small, and all is asked", &mutant{burst: 19}, bucket20(), []string{"bound"}, results.Broken, true, false, false},
		{"too large, and nobody asks", &mutant{burst: 21}, bucket20(), []string{CheckLower}, results.Kept, false, true, false},
		{"too large, and it is asked", &mutant{burst: 21}, bucket20(), []string{CheckUpper}, results.Broken, true, false, false},
		{"right, one side", &mutant{}, bucket20(), []string{CheckUpper}, results.Kept, false, false, true},
		{"right, both sides", &mutant{}, bucket20(), nil, results.Kept, false, true, true},
		{"a window too small, and nobody asks", serverOf(algorithm(t, "sliding-counter{rate=19/2s}"), 1), declaredAs(t, scenarios.SlidingCounter, 0, "20/2s"), []string{CheckUpper}, results.Inconclusive, false, false, true},
		{"a window too fast, and its beginning is not asked", serverOf(algorithm(t, "sliding-counter{rate=20/1.8s}"), 1), declaredAs(t, scenarios.SlidingCounter, 0, "20/2s"), []string{CheckUpper}, results.Inconclusive, false, false, true},
		{"a window too fast, and it is asked", serverOf(algorithm(t, "sliding-counter{rate=20/1.8s}"), 1), declaredAs(t, scenarios.SlidingCounter, 0, "20/2s"), []string{CheckUpper, CheckWindow}, results.Broken, true, false, false},
		{"a window too small, and its beginning is asked", serverOf(algorithm(t, "sliding-counter{rate=19/2s}"), 1), declaredAs(t, scenarios.SlidingCounter, 0, "20/2s"), []string{CheckUpper, CheckWindow}, results.Broken, true, false, false},
		{"only waits", &mutant{burst: 19}, bucket20(), []string{"retry-after"}, results.Kept, false, false, false},
	}
	for _, tt := range tests {
		v := judgedBy(t, tt.server, tt.limit, library.DefaultWanted, &results.Run{}, tt.checks...)
		r := v.Resolutions[0]
		if v.Status != tt.status || r.Refuted != tt.refuted || (r.BurstLow != nil) != tt.low || (r.RateHigh != nil) != tt.high {
			t.Errorf("%s: got %v %q, refuted %v, burst %v, rate up to %v", tt.name, v.Status, v.Headline, r.Refuted, r.BurstLow, r.RateHigh)
		}
	}
}

// What could not be sent is not missed where what was sent is enough to see by,
// also where there is no smaller burst than the promised one.
func TestFitnessWantsNoErrorThatThereCannotBe(t *testing.T) {
	one := declaredAs(t, scenarios.Nginx, 1, "5/s")
	short := func() *results.Run {
		return &results.Run{Planned: 600, Phases: []results.Count{{Name: "pressure", Planned: 4100, Sent: 3500}}}
	}
	tests := []struct {
		name   string
		limit  scenarios.Limit
		server virtual.Server
		wanted int64
		want   results.Status
	}{
		{"burst 1", one, &mutant{burst: 1, perSecond: 5 * token}, 20_000, results.Kept},
		{"burst 1, not sharp enough", one, &mutant{burst: 1, perSecond: 5 * token}, 300, results.Inconclusive},
		{"burst 20", bucket20(), &mutant{}, 20_000, results.Kept},
	}
	for _, tt := range tests {
		v := judgedBy(t, tt.server, tt.limit, tt.wanted, short())
		if f := v.Findings[0]; f.Check != CheckFitness || f.Status != tt.want {
			t.Errorf("%s: got %v %q, want %v; sight %+v", tt.name, f.Status, f.Text, tt.want, v.Resolutions[0])
		}
	}
}

// Without the search for what would have been caught the same is found, and nothing
// is said of what would have been.
func TestVerdictWithoutResolution(t *testing.T) {
	l := bucket20()
	for _, server := range []*mutant{{}, {burst: 21}, {burst: 19}} {
		s, _ := library.Standard(l, library.Circumstances{Seed: 1})
		plan, err := s.Plan(scenarios.Supply{})
		if err != nil {
			t.Fatal(err)
		}
		blocks := virtual.Run(plan, virtual.Client{Answers: l.Answers, Slack: l.Slack}, virtual.LAN(), server, 1)
		var verdicts [2]results.Verdict
		for i, without := range []bool{false, true} {
			j, err := New([]scenarios.Limit{l}, Options{Fresh: true, Wanted: library.DefaultWanted, NoCauses: true, NoResolution: without})
			if err != nil {
				t.Fatal(err)
			}
			run := &results.Run{}
			for _, b := range blocks {
				run.Sent += int64(len(b.Hits))
				j.Block(b)
			}
			run.Planned = run.Sent
			verdicts[i] = j.Verdict(run)
		}
		with, without := verdicts[0], verdicts[1]
		if with.Status != without.Status || without.Resolutions[0] != (results.Resolution{Limit: with.Resolutions[0].Limit}) {
			t.Errorf("burst %d: got %v and %+v, want %v and nothing", server.burst, without.Status, without.Resolutions[0], with.Status)
		}
	}
}
