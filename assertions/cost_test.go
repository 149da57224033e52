package assertions

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/results"
)

// costed are the contracts, each by a right algorithm that keeps a hundred keys
// under pressure.
var costed = []string{
	"token-bucket{burst=10,rate=50/s}", "gcra{burst=10,rate=50/s}", "nginx{burst=9,rate=50/s,nodelay}",
	"lumps{burst=10,rate=10/200ms}", "fixed-window{rate=10/200ms,align=start}", "fixed-window{rate=10/200ms,align=first-hit}",
	"sliding-log{rate=10/200ms}", "sliding-counter{rate=10/200ms}", "queue{burst=10,rate=50/s}", "concurrency{burst=10}",
}

// BenchmarkContracts judges a record of a million requests under each contract,
// and beside it sorts the record by time. judge/sort is the ratio of the two, the
// median of the rounds, in the time that processors worked. verdict-ms is what comes at the end whatever the length of
// the record: the sample judged again under other promises.
func BenchmarkContracts(b *testing.B) {
	for _, text := range costed {
		b.Run(text, func(b *testing.B) {
			a := algorithm(b, text)
			hits := pressed(a, 1_000_000)
			blocks := recorded(hits)
			var judged, ratios, verdicts []float64
			for n := range b.N {
				sorted := sortedIn(hits, uint64(n))
				took, verdict := judge(b, a, blocks)
				judged, ratios = append(judged, took.Seconds()), append(ratios, float64(took)/float64(sorted))
				verdicts = append(verdicts, verdict.Seconds())
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(middle(judged)/float64(len(hits))*1e9, "ns/hit")
			b.ReportMetric(middle(ratios), "judge/sort")
			b.ReportMetric(middle(verdicts)*1000, "verdict-ms")
		})
	}
}

// sortedIn is how long it takes to sort shuffled hits by time.
func sortedIn(hits []results.Hit, seed uint64) time.Duration {
	shuffled := slices.Clone(hits)
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	begin := busyTime()
	slices.SortFunc(shuffled, func(a, b results.Hit) int { return cmp.Compare(a.Sent, b.Sent) })
	return busyTime() - begin
}

func middle(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

func judge(b testing.TB, a limiter.Algorithm, blocks []results.Block) (took, verdict time.Duration) {
	j, err := New(limitsOf(a), Options{Fresh: true, Wanted: 10_000})
	if err != nil {
		b.Fatal(err)
	}
	run := results.Run{}
	begin := busyTime()
	for _, block := range blocks {
		run.Sent += int64(len(block.Hits))
		j.Block(block)
	}
	took = busyTime() - begin
	run.Planned = run.Sent
	begin = busyTime()
	if v := j.Verdict(&run); v.Status == results.Broken {
		b.Fatalf("got %v: %s", v.Status, v.Headline)
	}
	return took, busyTime() - begin
}

// pressed is what a hundred keys that ask twenty times as often as they may get
// to hear, in the order in which their answers end.
func pressed(a limiter.Algorithm, n int) []results.Hit {
	rng := rand.New(rand.NewPCG(7, 3))
	states := map[string]limiter.State{}
	keys := make([]string, 100)
	for i := range keys {
		keys[i] = fmt.Sprintf("key-%d", i)
		states[keys[i]] = a.Fresh(0)
	}
	hits := make([]results.Hit, n)
	for i := range hits {
		sent := int64(i+1) * 10_000
		at := sent + 200_000 // all ways there are alike, so that decisions come in their order
		h := results.Hit{Seq: int64(i + 1), Key: keys[rng.IntN(len(keys))], Cost: 1, Planned: sent, Sent: sent, Status: 429, Outcome: results.Limited, RetryAfter: "1"}
		d, _ := a.Decide(states[h.Key], at-at%int64(time.Millisecond), 1)
		h.First = at + int64(d.Delay) + int64(float64(200*time.Microsecond)*math.Exp(rng.NormFloat64()*0.5))
		if d.Admitted {
			h.Status, h.Outcome, h.RetryAfter = 200, results.Admitted, ""
			if r, ok := a.(limiter.Releaser); ok {
				r.Release(states[h.Key], at, 1)
			}
		}
		h.Done = h.First
		hits[i] = h
	}
	slices.SortFunc(hits, func(a, b results.Hit) int { return cmp.Compare(a.Done, b.Done) })
	return hits
}
