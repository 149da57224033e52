package assertions

import (
	"slices"

	"github.com/ratehammer/ratehammer/results"
)

// doubted takes back what is concluded from something that was done to a store, where it
// is not proven that it is the limiter's: another one that was away shows nothing.
func doubted(f *results.Finding, m results.Mark) {
	if m.Doubt == "" {
		return
	}
	f.Status, f.Proof, f.Seqs, f.Key = results.Inconclusive, "", nil, ""
	f.Text += ", but " + m.Doubt
}

// unmoved takes back that moves of clocks showed nothing where one may have been of a
// clock that the limiter never reads. Who was locked out was.
func unmoved(f *results.Finding, clocks []results.Mark) {
	n := slices.IndexFunc(clocks, func(m results.Mark) bool { return m.Doubt != "" })
	if n >= 0 && f.Status == results.Kept {
		doubted(f, clocks[n])
	}
}
