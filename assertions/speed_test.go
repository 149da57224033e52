package assertions

import (
	"os"
	"testing"
)

// Of the test of speed: how many requests are judged, how often at first and at
// most. With fewer requests than a million the sort is cheaper by its logarithm,
// so that the test asks for a little more than the benchmark shows.
const (
	speedHits   = 250_000
	speedRounds = 3
	speedMost   = 12
)

// Judging costs less than twice as much as sorting the record by time, under every
// contract. The two are measured in turn, in the time that processors worked; the
// middle of the rounds counts, and where it is too much more rounds are made, since
// who works beside us drives our memory out of the caches.
func TestJudgingCostsNoMoreThanTwiceSorting(t *testing.T) {
	if raced || os.Getenv("HAMMER_SPEED") == "" {
		t.Skip("asked for with HAMMER_SPEED, on a machine with nothing else to do and without the race detector")
	}
	for _, text := range costed {
		a := algorithm(t, text)
		hits := pressed(a, speedHits)
		blocks := recorded(hits)
		var ratios []float64
		ratio := 0.0
		for n := 0; n < speedRounds || ratio >= 2 && n < speedMost; n++ {
			sorted := sortedIn(hits, uint64(n))
			took, _ := judge(t, a, blocks)
			ratios = append(ratios, float64(took)/float64(sorted))
			ratio = middle(ratios)
		}
		t.Logf("%-48s %.2f times sorting, %d rounds", text, ratio, len(ratios))
		if ratio >= 2 {
			t.Errorf("%s: judging costs %.2f times sorting, in %d rounds", text, ratio, len(ratios))
		}
	}
}
