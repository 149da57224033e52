package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// 200 at once on b = 10: exactly 10, in each of 100 runs.
func TestVolleyInMemoryIsExact(t *testing.T) {
	m := NewMemory(algorithms(t, "token-bucket{burst=10,rate=1/h}"), clock.New(time.Now(), nil))
	for run := range 100 {
		if got := volley(t, m, fmt.Sprint(run)); got != 10 {
			t.Fatalf("run %d: got %d of 200, want 10", run, got)
		}
	}
}

// Many keys and limits at once, in any order: no two requests wait for each
// other, nothing is spent of a refusal, and what is settled is in the order of
// the decisions. Each request asks one of 7 keys of 3 tokens and one of 2 of 5:
// of the first kind there are more than enough, so of the second exactly all are
// spent.
func TestNestedLimitsAtOnce(t *testing.T) {
	m := NewMemory(algorithms(t, "token-bucket{burst=3,rate=1/h}", "fixed-window{rate=5/1d}", "concurrency{burst=1000}"), clock.New(base, nil))
	var mu sync.Mutex
	passed := map[string]int{}
	left := map[string]int64{}
	settle := func(asks []Ask) func(*Answer) {
		return func(a *Answer) {
			mu.Lock()
			defer mu.Unlock()
			for i, ask := range asks {
				name := fmt.Sprint(ask.Limit, ask.Key)
				if before, known := left[name]; known && a.Decisions[i].Before/a.Decisions[i].Unit != before {
					t.Errorf("%s: decided on %+v, the one before left %d", name, a.Decisions[i], before)
				}
				left[name] = a.Decisions[i].After / a.Decisions[i].Unit
				if a.Admitted {
					passed[name]++
				}
			}
		}
	}
	var wg sync.WaitGroup
	for worker := range uint64(8) {
		random := rand.New(rand.NewPCG(worker, 3))
		wg.Go(func() {
			for range 300 {
				asks := []Ask{{Limit: 0, Key: fmt.Sprint(random.IntN(7)), Cost: 1}, {Limit: 1, Key: fmt.Sprint(random.IntN(2)), Cost: 1}}
				random.Shuffle(2, func(i, j int) { asks[i], asks[j] = asks[j], asks[i] })
				if err := m.Decide(context.Background(), asks, settle(asks)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if passed["10"] != 5 || passed["11"] != 5 {
		t.Errorf("got %v, want 5 of each of the second limit", passed)
	}
	for key := range 7 {
		if n := passed[fmt.Sprintf("0%d", key)]; n > 3 {
			t.Errorf("key %d: got %d, want 3 at most", key, n)
		}
	}
}

// The answer names the first limit that refused; what the others would have
// admitted is not spent, and they say so.
func TestNestedLimitsName(t *testing.T) {
	v := &virtual{}
	m := NewMemory(algorithms(t, "token-bucket{burst=2,rate=1/s}", "fixed-window{rate=3/m}"), v.clock())
	ask := func(key string) Answer {
		return decide(t, m, Ask{Limit: 0, Key: key, Cost: 1}, Ask{Limit: 1, Key: "", Cost: 1})
	}
	steps := []struct {
		key     string
		refused int
		left    [2]int64
	}{
		{"a", -1, [2]int64{1, 2}},
		{"a", -1, [2]int64{0, 1}},
		{"a", 0, [2]int64{0, 1}},
		{"b", -1, [2]int64{1, 0}},
		{"b", 1, [2]int64{1, 0}},
		{"a", 0, [2]int64{0, 0}},
		{"c", 1, [2]int64{2, 0}},
	}
	for i, s := range steps {
		a := ask(s.key)
		if a.Refused != s.refused || a.Admitted != (s.refused < 0) || a.Decisions[0].Remaining != s.left[0] || a.Decisions[1].Remaining != s.left[1] {
			t.Errorf("step %d: got %+v, want %d to refuse and %v left", i, a, s.refused, s.left)
		}
	}
	// c was never admitted, and nothing is remembered of it.
	if got := m.Len(); got != 3 {
		t.Errorf("Len: got %d, want a, b and the one for all", got)
	}
}

// The moment that is settled is the one that was decided on.
func TestMoments(t *testing.T) {
	v := &virtual{now: 5e9}
	c := v.clock()
	limits := algorithms(t, "gcra{burst=1,rate=1/s}")
	limits[0].Now = func(i clock.Instant) int64 { return i.Wall }
	m := NewMemory(limits, c)
	if err := c.Step(-2 * time.Second); err != nil {
		t.Fatal(err)
	}
	a := decide(t, m, Ask{Cost: 1})
	if a.From != a.At || a.At.Mono != 5e9 || a.Moments[0] != base.UnixNano()+3e9 {
		t.Errorf("got %+v, want 5 s, and 3 s by the wall clock that is decided by", a)
	}
}

func TestMemoryErrors(t *testing.T) {
	v := &virtual{}
	m := NewMemory(algorithms(t, "gcra{burst=2,rate=1/h}", "gcra{burst=9,rate=1/h}"), v.clock())
	settle := func(*Answer) { t.Error("an error was settled") }
	for _, asks := range [][]Ask{nil, {{Limit: 2, Cost: 1}}, {{Limit: -1, Cost: 1}}, {{Key: "a", Cost: 1}, {Limit: 1, Cost: 1}, {Key: "a", Cost: 1}}} {
		if err := m.Decide(t.Context(), asks, settle); !errors.Is(err, ErrAsks) {
			t.Errorf("%+v: got %v, want ErrAsks", asks, err)
		}
		if err := m.Release(t.Context(), asks); !errors.Is(err, ErrAsks) {
			t.Errorf("releasing %+v: got %v, want ErrAsks", asks, err)
		}
	}
	for _, asks := range [][]Ask{{{Cost: 3}}, {{Limit: 1, Cost: 3}, {Cost: 3}}, {{Cost: 0}}} {
		if err := m.Decide(t.Context(), asks, settle); !errors.As(err, new(*limiter.CostError)) {
			t.Errorf("%+v: got %v, want a CostError", asks, err)
		}
	}
	if got := m.Len(); got != 0 {
		t.Errorf("Len after errors alone: got %d, want 0", got)
	}
	if !decide(t, m, Ask{Limit: 1, Cost: 9}).Admitted {
		t.Errorf("an error has spent something")
	}
	if err := m.Decide(t.Context(), []Ask{{Cost: 2}}, nil); err != nil {
		t.Errorf("without settle: %v", err)
	}
	if decide(t, m, Ask{Cost: 1}).Admitted {
		t.Errorf("a decision that nobody wanted to know of was not made")
	}
	if err := m.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// An answer that panics leaves nothing locked.
func TestSettlePanicUnlocks(t *testing.T) {
	v := &virtual{}
	m := NewMemory(algorithms(t, "gcra{burst=2,rate=1/h}"), v.clock())
	func() {
		defer func() { _ = recover() }()
		_ = m.Decide(t.Context(), []Ask{{Key: "a", Cost: 1}}, func(*Answer) { panic("nobody listens") })
	}()
	if got := admitted(t, m, "a", 2); got != 1 {
		t.Errorf("got %d of 2, want the one that is left", got)
	}
}

func TestMemoryReleases(t *testing.T) {
	v := &virtual{}
	m := NewMemory(algorithms(t, "concurrency{burst=2}", "gcra{burst=1,rate=1/h}"), v.clock())
	asks := []Ask{{Key: "a", Cost: 2}, {Limit: 1, Key: "a", Cost: 1}}
	decide(t, m, asks...)
	if decide(t, m, Ask{Key: "a", Cost: 1}).Admitted {
		t.Errorf("admitted a third of two")
	}
	if err := m.Release(t.Context(), asks); err != nil {
		t.Fatal(err)
	}
	if got := admitted(t, m, "a", 3); got != 2 {
		t.Errorf("after the release: got %d, want 2", got)
	}
	if decide(t, m, Ask{Limit: 1, Key: "a", Cost: 1}).Admitted {
		t.Errorf("the bucket got its token back: it has no business with the end of a request")
	}
	if err := m.Release(t.Context(), []Ask{{Key: "never seen", Cost: 1}}); err != nil || m.Len() != 2 {
		t.Errorf("a release of an unknown key: got %v and %d keys, want it ignored", err, m.Len())
	}
}

// Forgetting is invisible, of every algorithm: a store that forgets gives the
// answers of one that keeps all, to the last unit.
func TestForgettingIsInvisible(t *testing.T) {
	for i, kind := range everyKind {
		v := &virtual{}
		random := rand.New(rand.NewPCG(uint64(i), 4))
		limits := algorithms(t, kind)
		forgetting, keeping := NewMemory(limits, v.clock()), NewMemory([]Limit{{Algorithm: elephant{limits[0].Algorithm}}}, v.clock())
		period := int64(limits[0].Algorithm.Promise().Rate.Time(1)) * 4
		if kind == "concurrency{burst=5}" {
			period = 1000
		}
		most := 0
		table := forgetting.(*memory).tables[0]
		for n := range 3 * walk {
			v.now += random.Int64N(period)
			ask := Ask{Key: fmt.Sprint(random.IntN(20)), Cost: 1 + random.Int64N(2)}
			table.sweep(n%shardCount, v.clock().Read().Since1970()) // besides what the requests sweep
			got, want := decide(t, forgetting, ask), decide(t, keeping, ask)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s at %d: %+v: got %+v, want %+v", kind, v.now, ask, got, want)
			}
			if got.Admitted {
				for _, s := range []Store{forgetting, keeping} {
					if err := s.Release(t.Context(), []Ask{ask}); err != nil {
						t.Fatal(err)
					}
				}
			}
			most = max(most, keeping.Len()-forgetting.Len())
		}
		if most == 0 {
			t.Errorf("%s: nothing was ever forgotten: the test shows nothing", kind)
		}
	}
}

// elephant forgets nothing.
type elephant struct{ limiter.Algorithm }

func (elephant) Forgettable(limiter.State, int64) bool { return false }

func (e elephant) Release(s limiter.State, now, cost int64) {
	if r, ok := e.Algorithm.(limiter.Releaser); ok {
		r.Release(s, now, cost)
	}
}

// A million distinct keys come, are used up and go (fewer under the race
// detector): they are all kept while they matter, and their memory comes back.
func TestMillionKeysOfAStore(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	keys := 1_000_000
	if raced {
		keys = 100_000
	}
	v := &virtual{}
	m := NewMemory(algorithms(t, "token-bucket{burst=10,rate=10/s}"), v.clock())
	use := func(key string) {
		if err := m.Decide(t.Context(), []Ask{{Key: key, Cost: 10}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	empty := heap()
	for i := range keys {
		use(fmt.Sprintf("client-%07d", i))
	}
	full := heap()
	if got := m.Len(); got != keys {
		t.Errorf("Len while all are in use: got %d, want %d", got, keys)
	}
	v.now = int64(time.Second)
	for range keys*5/8 + 32*shardCount {
		v.now += int64(time.Second)
		use("busy")
	}
	if got, swept := m.Len(), heap(); got != 1 || swept-empty > (full-empty)/20 {
		t.Errorf("got %d keys and %d bytes, want the busy one and less than 5%% of %d", got, swept-empty, full-empty)
	}
	t.Logf("bytes a key: %d", (full-empty)/int64(keys))
	if !admittedOnce(t, m, "client-0000000") {
		t.Errorf("a key that was forgotten is not full")
	}
}

func admittedOnce(t *testing.T, s Store, key string) bool {
	t.Helper()
	return decide(t, s, Ask{Key: key, Cost: 10}).Admitted
}

// Of two limits that are asked together each goes by its own clock: a step of the
// one that can be stepped neither forgets keys of the other nor dates its decisions.
func TestMemoryKeepsClocksApart(t *testing.T) {
	v := &virtual{}
	c := v.clock()
	limits := algorithms(t, "gcra{burst=9,rate=1/s}", "gcra{burst=1,rate=1/h}")
	limits[0].Now = func(i clock.Instant) int64 { return i.Wall }
	m := NewMemory(limits, c)
	both := func(key string) []Ask { return []Ask{{Limit: 0, Key: key, Cost: 1}, {Limit: 1, Key: key, Cost: 1}} }
	if a := decide(t, m, both("drained")...); !a.Admitted {
		t.Fatalf("got %+v, want it admitted", a)
	}
	if err := c.Step(24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	for i := range 64 * shardCount {
		decide(t, m, both(fmt.Sprint(i))...)
	}
	a := decide(t, m, both("drained")...)
	if a.Admitted || a.Refused != 1 {
		t.Errorf("got %+v, want the limit that was not stepped to refuse", a)
	}
	if got, want := a.Moments, []int64{base.UnixNano() + int64(24*time.Hour), base.UnixNano()}; !slices.Equal(got, want) {
		t.Errorf("decided at %v, want %v", got, want)
	}
}
