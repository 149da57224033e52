package main

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// cell is what a run sent in one phase on one key.
type cell struct{ phase, key string }

// outcomes are counts by results.Outcome.
type outcomes [4]int64

// counted is a run's record by phase and key, and its answers in the order in which
// they were planned.
type counted struct {
	cells   map[cell]*outcomes
	answers [4][]answered    // by outcome
	spans   map[cell]*span   // when their requests were under way
	apart   map[string]bool  // keys on which something was sent that the other run missed: what it took the other still had
	behind  map[string]*span // by key: how far behind its moment a planned request was decided, at least and at most, nanoseconds
	unknown map[string]int64 // by key: requests of which nobody knows whether they took a token
}

// answered is when a request was due, and how long its answer took.
type answered struct{ planned, took int64 }

func newCounted() counted {
	return counted{cells: map[cell]*outcomes{}, spans: map[cell]*span{}, apart: map[string]bool{}, behind: map[string]*span{}, unknown: map[string]int64{}}
}

// add counts one request.
func (c *counted) add(h *results.Hit, phase string, planned bool) {
	at := cell{phase, h.Key}
	c.seen(at, h, planned)
	if c.cells[at] == nil {
		c.cells[at] = &outcomes{}
	}
	c.cells[at][h.Outcome&3]++
	if h.Answered() {
		c.answers[h.Outcome&3] = append(c.answers[h.Outcome&3], answered{h.Planned, h.First - h.Sent})
	}
}

// count goes through a record, without what was fired after a breach and what has no
// place in the other run. Requests that were not answered have no latency.
func count(e *earlier, other seqs) (c counted, holes []string) {
	c = newCounted()
	phases := e.asked().Phases
	names := e.saved.Manifest.Phases[:min(e.scenario.Asked(), len(e.saved.Manifest.Phases))]
	holes = blocks(e.saved.Blocks()).all(func(b results.Block) {
		for i := range b.Hits {
			h := &b.Hits[i]
			if int(h.Phase) >= len(names) {
				continue
			}
			if asPlanned(phases, h.Phase) && !other.has(h.Seq) {
				c.apart[h.Key] = true
				continue
			}
			c.add(h, names[h.Phase], asPlanned(phases, h.Phase))
		}
	})
	for _, list := range c.answers {
		slices.SortFunc(list, func(a, b answered) int { return cmp.Compare(a.planned, b.planned) })
	}
	return c, holes
}

// asPlanned reports whether a phase is fired as the plan has it, whatever is answered.
func asPlanned(phases []scenarios.Phase, i int32) bool {
	return int(i) < len(phases) && !phases[i].Adaptive()
}

// seqs are the places in the plan of what a run sent, a bit each.
type seqs []uint64

func (s seqs) has(seq int64) bool {
	return seq >= 0 && int(seq/64) < len(s) && s[seq/64]&(1<<(seq%64)) != 0
}

// sentOf are the places of what a run sent: a shot that one of two runs missed says
// nothing of their servers.
func sentOf(e *earlier) (s seqs) {
	blocks(e.saved.Blocks()).all(func(b results.Block) {
		for i := range b.Hits {
			if seq := b.Hits[i].Seq; seq >= 0 {
				for int(seq/64) >= len(s) {
					s = append(s, 0)
				}
				s[seq/64] |= 1 << (seq % 64)
			}
		}
	})
	return s
}

// Difference is a phase and key on which two runs were answered otherwise.
type Difference struct {
	Phase     string `json:"phase"` // several, with " + " between, are counted together: their requests were under way at the same time
	Key       string `json:"key"`   // or how many keys, where a limit counts several together
	Outcome   string `json:"outcome"`
	Base      int64  `json:"base"`               // requests
	Candidate int64  `json:"candidate"`          // requests
	Adaptive  bool   `json:"adaptive,omitempty"` // how many are sent, or what is left for them, follows from the answers, so that nothing is concluded
	Missed    bool   `json:"missed,omitempty"`   // one run sent something on the key that the other missed, so that nothing is concluded
	Keys      int64  `json:"keys,omitempty"`     // that are counted together; 0: one
	Late      int64  `json:"late,omitempty"`     // requests by which more may differ, since requests were late or long under way
}

func (d Difference) by() int64 { return d.Candidate - d.Base }

// differences are all groups of phases and all outcomes in which the counts are not
// the same, in the order of the phases and by key. Slips is how many of those that are
// judged may differ for the moments of their requests alone: a count is another one
// with at most the chance that a token falls into the time that one run took longer.
func differences(base, candidate counted, s *scenarios.Scenario) (all []Difference, slips int64) {
	several := severalKeys(s)
	missed := func(g together) bool {
		if several {
			return len(base.apart)+len(candidate.apart) > 0
		}
		return base.apart[g.key()] || candidate.apart[g.key()]
	}
	// How many are served at a time follows from how long each takes.
	free := slices.ContainsFunc(s.Limits, func(l scenarios.Limit) bool { return l.Contract == scenarios.Concurrency })
	parts := int64(0)
	for _, g := range joined(base, candidate, s) {
		a, b := g.sum(base), g.sum(candidate)
		d := Difference{Phase: g.phase(), Key: g.key(), Adaptive: g.adaptive || free, Missed: missed(g)}
		if len(g.keys) > 1 {
			d.Keys = int64(len(g.keys))
		}
		var part int64
		d.Late, part = g.brings(base, candidate, s.Limits)
		if !d.Adaptive && !d.Missed {
			parts = min(parts+part, math.MaxInt32*parted)
		}
		for o := range a {
			if a[o] != b[o] {
				d.Outcome, d.Base, d.Candidate = results.Outcome(o).String(), a[o], b[o]
				all = append(all, d)
			}
		}
	}
	return all, (parts + parted - 1) / parted
}

// countVerdict is what differences in counts come to. One request more or less on a
// key is what the moment of a single decision may make, in either direction; more
// than within is not, and neither is one direction on many keys: were both equally
// likely, so many of them in one would be seen in less than one pair of runs of a
// hundred (sign test, exact; without as many as may have slipped in one direction
// because a run was late). A machine that is late gives the tokens that come
// meanwhile, and one that misses shots leaves what they would have taken: neither is
// the server's doing.
func countVerdict(all []Difference, slips, within int64) (differs bool, why string) {
	more, less := 0, 0
	for _, d := range all {
		switch {
		case d.Adaptive, d.Missed:
			continue
		case max(d.by(), -d.by()) > within*max(d.Keys, 1)+d.Late:
			return true, fmt.Sprintf("%s on %s in phase %s: %d and %d", d.Outcome, d.Key, d.Phase, d.Base, d.Candidate)
		case d.Outcome != results.Admitted.String():
		case d.by() > 0:
			more++
		default:
			less++
		}
	}
	word, most, n := "more", more, more+less
	if less > more {
		word, most = "fewer", less
	}
	if slip := int(min(slips, int64(most))); n > slip && oneSided(most-slip, n-slip, 100) {
		return true, fmt.Sprintf("%s are admitted on %d of the %d keys and phases that differ", word, most, n)
	}
	return false, ""
}

// oneSided reports whether k or more of n fair coins on the same side, whichever, have
// a chance of less than one in so many: 2 x sum of C(n,i) from k to n < 2^n / odds.
func oneSided(k, n, odds int) bool {
	tail := new(big.Int)
	for i := k; i <= n; i++ {
		tail.Add(tail, new(big.Int).Binomial(int64(n), int64(i)))
	}
	tail.Mul(tail, big.NewInt(2*int64(odds)))
	return tail.Cmp(new(big.Int).Lsh(big.NewInt(1), uint(n))) < 0
}
