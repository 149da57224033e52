package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

// The interval encloses the median of n differences with the chance that is said:
// of 40, for odds of one in 600, those from the 11th on, since
// 2 x P(Bin(40, 1/2) <= 10) = 0.00222 is too much and <= 9 gives 0.00068.
func TestSignInterval(t *testing.T) {
	tests := []struct{ n, odds, want int }{
		{40, 600, 10},
		{10, 600, 0}, // 2/1024 is more than 1/600
		{11, 600, 1}, // 2/2048 is less
		{20, 600, 4}, // 2 x P(<= 3) = 0.00258, <= 2: 0.00040: the third would do
		{5, 10, 1},   // 2/32
		{0, 600, 0},
	}
	for _, tt := range tests {
		got := least(tt.n, tt.odds)
		chance := 0.0
		for i := range got {
			chance += 2 * math.Exp(lchoose(tt.n, i)-float64(tt.n)*math.Ln2)
		}
		next := chance + 2*math.Exp(lchoose(tt.n, got)-float64(tt.n)*math.Ln2)
		if chance > 1/float64(tt.odds) || got < tt.n/2 && next <= 1/float64(tt.odds) {
			t.Errorf("n %d, odds %d: got %d, which misses with chance %g, the next %g", tt.n, tt.odds, got, chance, next)
		}
	}
}

func lchoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// times are latencies with heavy tails in which neighbours have much in common, as
// those of a machine that is busy for a while.
func times(n int, seed uint64, scale float64) counted {
	rng := rand.New(rand.NewPCG(seed, 1))
	var c counted
	mood := 0.0
	for i := range n {
		mood = 0.95*mood + 0.1*rng.NormFloat64()
		took := 1e6 * scale * math.Exp(mood+0.3*rng.NormFloat64())
		c.answers[results.Admitted] = append(c.answers[results.Admitted], answered{int64(i), int64(took)})
	}
	return c
}

// Of runs of the same server hardly any are told apart, though their answers depend
// on each other; a tenth more is seen in most.
func TestLatencyTestIsHonest(t *testing.T) {
	const pairs = 40
	changed := func(scale float64) (n int) {
		for i := range uint64(pairs) {
			for _, s := range shifts(times(2400, 2*i, 1), times(2400, 2*i+1, scale), 0) {
				if s.Change == "slower" || s.Change == "faster" {
					n++
					break
				}
			}
		}
		return n
	}
	same, slower := changed(1), changed(1.3)
	t.Logf("of %d pairs %d of the same server were told apart, and %d of one that is slower by 30 %%", pairs, same, slower)
	if same > pairs*5/100 {
		t.Errorf("%d of %d pairs of the same server were told apart, want about 1 %%", same, pairs)
	}
	if slower < pairs/2 {
		t.Errorf("%d of %d pairs were told apart where one is slower by 30 %%", slower, pairs)
	}
}

func TestCountsAreCompared(t *testing.T) {
	off := func(n int, by int64) (all []Difference) {
		for range n {
			all = append(all, Difference{Phase: "volley", Key: "volley/1", Outcome: "admitted", Base: 10, Candidate: 10 + by})
		}
		return all
	}
	tests := []struct {
		name  string
		all   []Difference
		slips int64
		want  bool
	}{
		{"none", nil, 0, false},
		{"one more on a key", off(1, 1), 0, false},
		{"two more on a key", off(1, 2), 0, true},
		{"one more on seven keys", off(7, 1), 0, false}, // 2/128 is more than 1 %
		{"one more on eight keys", off(8, 1), 0, true},  // 2/256 is less
		{"one more on eight keys, one of which may have slipped", off(8, 1), 1, false},
		{"one more on nine keys, one of which may have slipped", off(9, 1), 1, true},
		{"as many up as down", append(off(20, 1), off(20, -1)...), 0, false},
		{"where shots were missed", []Difference{{Outcome: "admitted", Base: 44, Candidate: 42, Missed: true}}, 0, false},
		{"three more where a request was late by two tokens", []Difference{{Outcome: "admitted", Base: 40, Candidate: 43, Late: 2}}, 0, false},
		{"four more there", []Difference{{Outcome: "admitted", Base: 40, Candidate: 44, Late: 2}}, 0, true},
		{"one on each of five keys that are counted together", []Difference{{Outcome: "admitted", Base: 40, Candidate: 45, Keys: 5}}, 0, false},
		{"six there", []Difference{{Outcome: "admitted", Base: 40, Candidate: 46, Keys: 5}}, 0, true},
		{"in an attack", []Difference{{Outcome: "admitted", Base: 10, Candidate: 90, Adaptive: true}}, 0, false},
	}
	for _, tt := range tests {
		if got, why := countVerdict(tt.all, tt.slips, 1); got != tt.want {
			t.Errorf("%s: got %v (%s), want %v", tt.name, got, why, tt.want)
		}
	}
}

// A shot that one of two runs missed is counted in neither.
func TestMissedShotsAreNotCompared(t *testing.T) {
	base, candidate := seqs{1<<1 | 1<<63, 1 << 2}, seqs{1 << 63}
	for seq, want := range map[int64]bool{1: false, 63: true, 66: false, 64: false, 200: false, -1: false} {
		if got := base.has(seq) && candidate.has(seq); got != want {
			t.Errorf("request %d: got %v, want %v", seq, got, want)
		}
	}
}
