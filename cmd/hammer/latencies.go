package main

import (
	"math/big"
	"slices"

	"github.com/ratehammer/ratehammer/results"
)

// How latencies are compared. Answers of one run are not independent of each other: a
// slow moment of the machine makes many of them slow. So both runs are cut, where the
// same requests were planned, into batches; of each the quantile is taken in either
// run, and what is tested are the differences of those pairs, of which neighbours
// hardly depend on each other. The interval for their median is that of the sign
// test: it rests on the order of the differences alone, not on how they are
// distributed, and on no mean.

// Shift is how a quantile of the time to the answer moved from one run to another.
type Shift struct {
	Outcome     string  `json:"outcome"`
	Quantile    float64 `json:"quantile"`
	BaseNS      int64   `json:"base_ns"`      // the quantile over all answers
	CandidateNS int64   `json:"candidate_ns"` // likewise
	Batches     int     `json:"batches"`      // 0: there are too few answers to tell anything at the level
	LowNS       int64   `json:"low_ns"`       // interval for the median of the differences between batches
	HighNS      int64   `json:"high_ns"`      //
	Change      string  `json:"change"`       // slower, faster, none, or unknown: too few answers
}

// quantile is one that is compared, in per mille, and how many answers a batch needs
// for it to mean something.
type quantile struct{ perMille, least int }

var compared = []quantile{{500, 5}, {900, 20}, {990, 200}}

const (
	mostBatches = 40
	// odds are those against an interval that misses the true median by chance, for
	// all intervals of a comparison together: 99 %.
	odds = 100
)

// shifts compares the admitted and the limited answers of two runs. within is how
// much of a quantile, in parts per million, is no change.
func shifts(base, candidate counted, within int64) (all []Shift) {
	intervals := 2 * len(compared)
	for _, o := range []results.Outcome{results.Admitted, results.Limited} {
		for _, q := range compared {
			all = append(all, shift(o, q, base.answers[o], candidate.answers[o], within, odds*intervals))
		}
	}
	return all
}

func shift(o results.Outcome, q quantile, base, candidate []answered, within int64, odds int) Shift {
	s := Shift{Outcome: o.String(), Quantile: float64(q.perMille) / 1000, Change: "unknown"}
	s.BaseNS, s.CandidateNS = at(base, q.perMille), at(candidate, q.perMille)
	n := min(len(base), len(candidate)) / q.least
	n = min(n, mostBatches)
	k := least(n, odds)
	if k == 0 {
		return s
	}
	s.Batches = n
	var differences []int64
	for i := range n {
		differences = append(differences, at(batch(candidate, i, n), q.perMille)-at(batch(base, i, n), q.perMille))
	}
	slices.Sort(differences)
	s.LowNS, s.HighNS = differences[k-1], differences[n-k]
	margin := s.BaseNS / 1_000_000 * within
	if s.BaseNS < 1<<40 {
		margin = s.BaseNS * within / 1_000_000
	}
	switch {
	case s.LowNS > margin:
		s.Change = "slower"
	case s.HighNS < -margin:
		s.Change = "faster"
	default:
		s.Change = "none"
	}
	return s
}

// batch is the i-th of n pieces of a list, by place: the runs have the same plan.
func batch(list []answered, i, n int) []answered {
	return list[len(list)*i/n : len(list)*(i+1)/n]
}

// at is a quantile of the times: the smallest that so many per mille do not exceed;
// 0 of none.
func at(list []answered, perMille int) int64 {
	if len(list) == 0 {
		return 0
	}
	times := make([]int64, len(list))
	for i, a := range list {
		times[i] = a.took
	}
	slices.Sort(times)
	return times[(len(times)*perMille+999)/1000-1]
}

// least is the largest k for which the k-th smallest and the k-th largest of n
// differences enclose their median with at most one chance in odds to miss it:
// 2 x sum of C(n,i) for i below k <= 2^n / odds (David and Nagaraja, Order
// Statistics, 7.1). 0: there is none.
func least(n, odds int) (k int) {
	whole := new(big.Int).Lsh(big.NewInt(1), uint(n))
	below := new(big.Int)
	for k = 0; k < n/2; k++ {
		below.Add(below, new(big.Int).Binomial(int64(n), int64(k)))
		missed := new(big.Int).Mul(below, big.NewInt(2*int64(odds)))
		if missed.Cmp(whole) > 0 {
			break
		}
	}
	return k
}
