package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/internal/lab"
)

// benched is every algorithm at one in ten seconds and 10 at once, or as near as
// it comes to that: no key that was asked may be forgotten while it is measured.
var benched = []string{
	"token-bucket{burst=10,rate=1/10s}",
	"lumps{burst=10,rate=1/10s}",
	"gcra{burst=10,rate=1/10s}",
	"meter{burst=10,rate=1/10s}",
	"queue{burst=9,rate=1/10s}",
	"fixed-window{rate=10/100s,align=first-hit}",
	"sliding-log{rate=10/100s}",
	"sliding-counter{rate=10/100s}",
	"nginx{rate=6/m,burst=9,nodelay}",
	"concurrency{burst=10}",
}

const (
	benchedKeys = 1_000_000
	benchedAsks = 500_000 // of a round, each of a key by chance
)

// limiters is what people write around golang.org/x/time/rate to have one limit
// for each key.
type limiters struct {
	mu    sync.Mutex
	byKey map[string]*rate.Limiter
}

func (l *limiters) allow(key string) bool {
	l.mu.Lock()
	limiter, ok := l.byKey[key]
	if !ok {
		limiter = rate.NewLimiter(0.1, 10)
		l.byKey[key] = limiter
	}
	l.mu.Unlock()
	return limiter.Allow()
}

// BenchmarkMillionKeys is a store of a million keys that are asked by chance, by
// as many goroutines as there are processors, beside a map of
// golang.org/x/time/rate limiters under a lock on the same sequence. Both read the
// clock. The other one never forgets a key. x-time-rate is how many times as long,
// and x-time-rate-B how many times as many bytes, that one takes.
func BenchmarkMillionKeys(b *testing.B) {
	keys := make([]string, benchedKeys)
	for i := range keys {
		keys[i] = fmt.Sprintf("client-%07d", i)
	}
	theirs, theirBytes := &limiters{byKey: map[string]*rate.Limiter{}}, int64(0)
	before := heap()
	for _, key := range keys {
		theirs.allow(strings.Clone(key)) // as a key of another request is
	}
	theirBytes = heap() - before
	for _, limit := range benched {
		before := heap()
		m := NewMemory(algorithms(b, limit), clock.New(time.Now(), nil))
		for _, key := range keys {
			ask(b, m, []Ask{{Key: key, Cost: 1}})
		}
		bytes := heap() - before
		b.Run(limit, func(b *testing.B) {
			var ours, ratios []float64
			for range b.N {
				took := everyProcessor(func(asks []Ask, key int) {
					asks[0].Key = keys[key]
					ask(b, m, asks)
				})
				other := everyProcessor(func(_ []Ask, key int) { theirs.allow(keys[key]) })
				ours, ratios = append(ours, took.Seconds()), append(ratios, float64(other)/float64(took))
			}
			b.ReportMetric(0, "ns/op") // of both, which says nothing
			b.ReportMetric(benchedAsks/median(ours), "decisions/s")
			b.ReportMetric(median(ratios), "x-time-rate")
			b.ReportMetric(float64(bytes)/benchedKeys, "B/key")
			b.ReportMetric(float64(theirBytes)/float64(bytes), "x-time-rate-B")
		})
		runtime.KeepAlive(m)
	}
	runtime.KeepAlive(theirs)
}

func ask(b *testing.B, m Store, asks []Ask) {
	if err := m.Decide(context.Background(), asks, nil); err != nil {
		b.Error(err)
	}
}

// everyProcessor does a round, and tells how long it took.
func everyProcessor(do func(asks []Ask, key int)) time.Duration {
	var wg sync.WaitGroup
	begin := time.Now()
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		random := rand.New(rand.NewPCG(uint64(w), 6))
		wg.Go(func() {
			asks := []Ask{{Cost: 1}}
			for range benchedAsks / workers {
				do(asks, random.IntN(benchedKeys))
			}
		})
	}
	wg.Wait()
	return time.Since(begin)
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// BenchmarkRedis is one key of a store in Redis on this machine, asked one after
// the other, for each algorithm.
func BenchmarkRedis(b *testing.B) {
	server := lab.Redis(b)
	for _, limit := range benched {
		b.Run(limit, func(b *testing.B) {
			r := newRedis(b, RedisOptions{Address: server.Address}, limit)
			asks := []Ask{{Key: "a", Cost: 1}}
			ask(b, r, asks)
			for b.Loop() {
				ask(b, r, asks)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
		})
	}
}
