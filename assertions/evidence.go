package assertions

import (
	"slices"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Limits of what a finding carries: more is on the record, in its window.
const (
	maxSeqs = 1000 // requests that a finding names
	maxEdge = 32   // requests that are shown for it from the beginning of its window, and as many from the end
)

// Evidence goes through a record once more, after the verdict, and finds the
// requests behind each broken finding.
type Evidence struct {
	keyed map[string]bool // limits whose keys have budgets of their own
	found []results.Finding
	named []map[int64]bool // by finding: the requests it named at once
	hits  [][]results.Hit
}

// NewEvidence is for the findings of a verdict on these limits.
func NewEvidence(v results.Verdict, limits []scenarios.Limit) *Evidence {
	e := &Evidence{keyed: map[string]bool{}, found: v.Findings, hits: make([][]results.Hit, len(v.Findings))}
	for _, l := range withNames(limits) {
		e.keyed[l.Name] = l.Key.Kind != scenarios.KeyNone
	}
	for _, f := range v.Findings {
		named := map[int64]bool{}
		for _, seq := range f.Seqs {
			named[seq] = true
		}
		e.named = append(e.named, named)
	}
	return e
}

// Block looks through a piece of the record.
func (e *Evidence) Block(b results.Block) {
	for i := range e.found {
		f := &e.found[i]
		if f.Status != results.Broken {
			continue
		}
		for j := range b.Hits {
			if h := &b.Hits[j]; e.named[i][h.Seq] || e.proves(f, h) {
				e.add(i, h)
			}
		}
	}
}

// proves reports whether a request is part of a finding's proof by its window.
func (e *Evidence) proves(f *results.Finding, h *results.Hit) bool {
	if e.keyed[f.Limit] && h.Key != f.Key {
		return false
	}
	switch f.Check {
	case CheckUpper, CheckEnforced:
		return h.Outcome == results.Admitted && h.Sent >= f.FromNS && h.First <= f.ToNS
	case CheckLower:
		return h.Spends() && h.Sent <= f.ToNS && h.First >= f.FromNS
	}
	return false
}

func (e *Evidence) add(i int, h *results.Hit) {
	f := &e.found[i]
	if len(f.Seqs) < maxSeqs && !e.named[i][h.Seq] {
		f.Seqs = append(f.Seqs, h.Seq)
	}
	if len(e.hits[i]) == 2*maxEdge {
		e.hits[i] = slices.Delete(e.hits[i], maxEdge, maxEdge+1)
	}
	e.hits[i] = append(e.hits[i], *h)
}

// Hits are the requests behind each finding, by its index, in the order they
// were sent: the first and the last 32 of each. The findings of the verdict
// name up to 1,000.
func (e *Evidence) Hits() [][]results.Hit {
	for i := range e.hits {
		slices.SortFunc(e.hits[i], func(a, b results.Hit) int {
			if a.Sent != b.Sent {
				return int(min(max(a.Sent-b.Sent, -1), 1))
			}
			return int(a.Seq - b.Seq)
		})
		slices.Sort(e.found[i].Seqs)
	}
	return e.hits
}
