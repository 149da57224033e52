package limiter

import (
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/ratehammer/ratehammer/scenarios"
)

// benched is every algorithm at 1,000 a second and 100 at once, or as near as it
// comes to that.
var benched = []string{
	"token-bucket{burst=100,rate=1000/s}",
	"lumps{burst=100,rate=100/100ms}",
	"gcra{burst=100,rate=1000/s}",
	"meter{burst=100,rate=1000/s}",
	"queue{burst=99,rate=1000/s}",
	"fixed-window{rate=100/100ms}",
	"sliding-log{rate=100/100ms}",
	"sliding-counter{rate=100/100ms}",
	"nginx{rate=1000/s,burst=99,nodelay}",
	"concurrency{burst=100}",
}

// gap is the time between two requests of the sequence: twice as many as are
// admitted. Of a round there are 100,000.
const (
	gap   = 500 * time.Microsecond
	round = 100_000
)

// BenchmarkDecide is one key that is asked twice as often as it admits, behind a
// lock as a server has it, beside golang.org/x/time/rate on the same sequence,
// which has its own. An iteration is a round of each, since a shared machine is
// not equally fast all the time; the figures are medians. x-time-rate is how many
// times as long that one takes.
func BenchmarkDecide(b *testing.B) {
	for _, limit := range benched {
		b.Run(limit, func(b *testing.B) {
			var ours, ratios []float64
			for range b.N {
				took := decideRound(b, build(b, limit))
				ours = append(ours, took.Seconds())
				ratios = append(ratios, float64(referenceRound())/float64(took))
			}
			b.ReportMetric(0, "ns/op") // of both, which says nothing
			b.ReportMetric(median(ours)/round*1e9, "ns/decision")
			b.ReportMetric(round/median(ours), "decisions/s")
			b.ReportMetric(median(ratios), "x-time-rate")
		})
	}
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

func decideRound(b *testing.B, a Algorithm) time.Duration {
	release, _ := a.(Releaser)
	s := a.Fresh(0)
	var mu sync.Mutex
	begin := time.Now()
	for i := range int64(round) {
		mu.Lock()
		d, err := a.Decide(s, i*int64(gap), 1)
		if release != nil && d.Admitted {
			release.Release(s, i*int64(gap), 1)
		}
		mu.Unlock()
		if err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(begin)
}

func referenceRound() time.Duration {
	l, start := rate.NewLimiter(1000, 100), time.Now()
	begin := time.Now()
	for i := range time.Duration(round) {
		l.AllowN(start.Add(i*gap), 1)
	}
	return time.Since(begin)
}

// The two decide alike, so that the comparison is one: the other one counts in
// floats, and may be off by one where a token is just there.
func TestReferenceDecidesAlike(t *testing.T) {
	bucket, err := NewTokenBucket(100, scenarios.Rate{Count: 1000, Per: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	l, start := rate.NewLimiter(1000, 100), time.Now()
	s := bucket.Fresh(0)
	ours, theirs := 0, 0
	for i := range time.Duration(round) {
		if d, _ := bucket.Decide(s, int64(i*gap), 1); d.Admitted {
			ours++
		}
		if l.AllowN(start.Add(i*gap), 1) {
			theirs++
		}
	}
	if ours-theirs > 1 || theirs-ours > 1 {
		t.Errorf("got %d admitted, and %d of the other", ours, theirs)
	}
}
