package assertions

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// million is a record of a million requests on a hundred keys under pressure,
// in the order in which a recorder writes it.
func million() (hits []results.Hit, blocks []results.Block) {
	w := newWorld(7, promised(10, 50, time.Second), time.Millisecond)
	var shots []shot
	keys := make([]string, 100)
	for i := range keys {
		keys[i] = fmt.Sprintf("key-%d", i)
	}
	for i := range 1_000_000 {
		shots = append(shots, shot{at: int64(i) * 50_000, key: keys[w.rng.IntN(len(keys))]})
	}
	w.fire(shots)
	slices.SortFunc(w.hits, func(a, b results.Hit) int { return cmp.Compare(a.Done, b.Done) })
	return w.hits, recorded(w.hits)
}

// recorded are hits as a recorder writes them.
func recorded(hits []results.Hit) (blocks []results.Block) {
	lows := make([]int64, len(hits)+1)
	lows[len(hits)] = math.MaxInt64
	for i := len(hits) - 1; i >= 0; i-- {
		lows[i] = min(lows[i+1], hits[i].Sent)
	}
	for i := 0; i < len(hits); i += 8192 {
		n := min(i+8192, len(hits))
		blocks = append(blocks, results.Block{Hits: hits[i:n], Low: lows[n]})
	}
	return blocks
}

// BenchmarkMillion judges a million requests, and beside it sorts them by time:
// the hits themselves, shuffled, and the bare moments of their starts and ends.
func BenchmarkMillion(b *testing.B) {
	hits, blocks := million()
	limits := []scenarios.Limit{promised(10, 50, time.Second)}
	limits[0].Slack = scenarios.DefaultSlack()
	b.Run("judge", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			j, err := New(limits, Options{Fresh: true, Wanted: 10_000})
			if err != nil {
				b.Fatal(err)
			}
			for _, block := range blocks {
				j.Block(block)
			}
			run := results.Run{Sent: int64(len(hits)), Planned: int64(len(hits))}
			if v := j.Verdict(&run); v.Status != results.Kept {
				b.Fatalf("got %v: %s", v.Status, v.Headline)
			}
		}
	})
	b.Run("sort-hits", func(b *testing.B) {
		for range b.N {
			b.StopTimer()
			h := slices.Clone(hits)
			rand.New(rand.NewPCG(1, 1)).Shuffle(len(h), func(i, j int) { h[i], h[j] = h[j], h[i] })
			b.StartTimer()
			slices.SortFunc(h, func(a, b results.Hit) int { return cmp.Compare(a.Sent, b.Sent) })
		}
	})
	b.Run("sort-moments", func(b *testing.B) {
		for range b.N {
			b.StopTimer()
			m := make([]moment, 0, 2*len(hits))
			for i := range hits {
				m = append(m, moment{hits[i].Sent, 0, int32(i)}, moment{hits[i].First, 1, int32(i)})
			}
			rand.New(rand.NewPCG(1, 1)).Shuffle(len(m), func(i, j int) { m[i], m[j] = m[j], m[i] })
			b.StartTimer()
			slices.SortFunc(m, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
		}
	})
}
