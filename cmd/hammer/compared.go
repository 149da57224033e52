package main

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

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
	apart   map[string]bool  // keys on which something was sent that the other run missed: what it took the other still had
	late    map[string]int64 // by key: the most that a request was sent behind its moment, nanoseconds
}

// answered is when a request was due, and how long its answer took.
type answered struct{ planned, took int64 }

// count goes through a record, without what was fired after a breach and what has no
// place in the other run. Requests that were not answered have no latency.
func count(e *earlier, other seqs) (c counted, holes []string) {
	c.cells, c.apart, c.late = map[cell]*outcomes{}, map[string]bool{}, map[string]int64{}
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
			c.late[h.Key] = max(c.late[h.Key], h.Sent-h.Planned)
			at := cell{names[h.Phase], h.Key}
			if c.cells[at] == nil {
				c.cells[at] = &outcomes{}
			}
			c.cells[at][h.Outcome&3]++
			if h.Answered() {
				c.answers[h.Outcome&3] = append(c.answers[h.Outcome&3], answered{h.Planned, h.First - h.Sent})
			}
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
	Phase     string `json:"phase"`
	Key       string `json:"key"`
	Outcome   string `json:"outcome"`
	Base      int64  `json:"base"`               // requests
	Candidate int64  `json:"candidate"`          // requests
	Adaptive  bool   `json:"adaptive,omitempty"` // how many are sent follows from the answers, so that nothing is concluded
	Missed    bool   `json:"missed,omitempty"`   // one run sent something on the key that the other missed, so that nothing is concluded
	Late      int64  `json:"late,omitempty"`     // tokens that come while a request is as late as the latest on the key: so much more may differ
}

func (d Difference) by() int64 { return d.Candidate - d.Base }

// differences are all cells and outcomes in which the counts are not the same, in
// the order of the phases and by key.
func differences(base, candidate counted, s *scenarios.Scenario) (all []Difference) {
	phases := s.Phases
	missed := func(key string) bool {
		for _, l := range s.Limits {
			if l.Key != s.Limits[0].Key { // one of them counts several keys together
				return len(base.apart)+len(candidate.apart) > 0
			}
		}
		return base.apart[key] || candidate.apart[key]
	}
	late := func(key string) (tokens int64) {
		for _, l := range s.Limits {
			if l.Rate.Per > 0 {
				tokens = max(tokens, l.Rate.Tokens(time.Duration(max(base.late[key], candidate.late[key]))))
			}
		}
		return tokens
	}
	cells := map[cell]bool{}
	for c := range base.cells {
		cells[c] = true
	}
	for c := range candidate.cells {
		cells[c] = true
	}
	place := map[string]int{}
	for i, p := range phases {
		place[p.Name] = i
	}
	order := slices.SortedFunc(maps.Keys(cells), func(a, b cell) int {
		return cmp.Or(cmp.Compare(place[a.phase], place[b.phase]), cmp.Compare(a.key, b.key))
	})
	none := &outcomes{}
	for _, c := range order {
		a, b := cmp.Or(base.cells[c], none), cmp.Or(candidate.cells[c], none)
		for o := range a {
			if a[o] != b[o] {
				p := phases[place[c.phase]]
				all = append(all, Difference{Phase: c.phase, Key: c.key, Outcome: results.Outcome(o).String(), Base: a[o], Candidate: b[o],
					Adaptive: p.Adaptive(), Missed: missed(c.key), Late: late(c.key)})
			}
		}
	}
	return all
}

// countVerdict is what differences in counts come to. One request more or less on a
// key is what the moment of a single decision may make, in either direction; more
// than within is not, and neither is one direction on many keys: were both equally
// likely, so many of them in one would be seen in less than one pair of runs of a
// hundred (sign test, exact). A machine that sends late gives the tokens that come
// meanwhile, and one that misses shots leaves what they would have taken: neither is
// the server's doing.
func countVerdict(all []Difference, within int64) (differs bool, why string) {
	more, less := 0, 0
	for _, d := range all {
		switch {
		case d.Adaptive, d.Missed:
			continue
		case max(d.by(), -d.by()) > within+d.Late:
			return true, fmt.Sprintf("%s on %s in phase %s: %d and %d", d.Outcome, d.Key, d.Phase, d.Base, d.Candidate)
		case d.Outcome != results.Admitted.String(), d.Late > 0:
		case d.by() > 0:
			more++
		default:
			less++
		}
	}
	if n := more + less; n > 0 && oneSided(max(more, less), n, 100) {
		word, most := "more", more
		if less > more {
			word, most = "fewer", less
		}
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
