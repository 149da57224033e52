package results

import (
	"cmp"
	"slices"
)

// blockSize is how many hits a block of Blocks holds.
const blockSize = 1000

// Blocks gives hits that are all there as a record would hold them: in the order of
// their ends, each block as low as is true. It sorts the hits.
func Blocks(hits []Hit) (out []Block) {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Done, b.Done), cmp.Compare(a.Seq, b.Seq))
	})
	lows := make([]int64, len(hits)+1)
	lows[len(hits)] = Never
	for i := len(hits) - 1; i >= 0; i-- {
		lows[i] = min(lows[i+1], hits[i].Sent)
	}
	for i := 0; i < len(hits); i += blockSize {
		n := min(i+blockSize, len(hits))
		out = append(out, Block{Hits: hits[i:n], Low: lows[n]})
	}
	return out
}
