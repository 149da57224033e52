package store

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/internal/lab"
)

// tornLimits are limits that are read and written apart.
func tornLimits(t *testing.T, gap time.Duration, modes ...string) []Limit {
	limits := algorithms(t, modes...)
	for i := range limits {
		limits[i].Torn, limits[i].Gap = true, gap
	}
	return limits
}

// One after the other, torn limits decide as right ones do, in memory and in
// Redis, all algorithms alike.
func TestTornIsRightAlone(t *testing.T) {
	r := lab.Redis(t)
	for _, d := range limiter.List() {
		if d.Name == "calendar" { // counts from a midnight, and not from now
			continue
		}
		v := new(virtual)
		right := NewMemory(algorithms(t, d.Example), v.clock())
		inMemory := NewMemory(tornLimits(t, 0, d.Example), v.clock())
		inRedis, err := NewRedis(RedisOptions{Address: r.Address, Timeout: time.Minute}, tornLimits(t, 0, d.Example), v.clock())
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		for i := range 60 {
			v.now += int64(i%7) * int64(40*time.Millisecond)
			want := decide(t, right, Ask{Key: "a", Cost: 1})
			for where, s := range map[string]Store{"memory": inMemory, "Redis": inRedis} {
				if got := decide(t, s, Ask{Key: "a", Cost: 1}); got.Admitted != want.Admitted || got.Decisions[0] != want.Decisions[0] {
					t.Fatalf("%s in %s, request %d: got %+v, want %+v", d.Name, where, i, got.Decisions[0], want.Decisions[0])
				}
			}
		}
		inRedis.Close()
	}
}

// A place of a concurrency limit that is torn comes free again.
func TestTornReleases(t *testing.T) {
	v := new(virtual)
	r := lab.Redis(t)
	inRedis, err := NewRedis(RedisOptions{Address: r.Address, Timeout: time.Minute}, tornLimits(t, 0, "concurrency{burst=1}"), v.clock())
	if err != nil {
		t.Fatal(err)
	}
	defer inRedis.Close()
	for where, s := range map[string]Store{"memory": NewMemory(tornLimits(t, 0, "concurrency{burst=1}"), v.clock()), "Redis": inRedis} {
		for range 3 {
			asks := []Ask{{Key: "a", Cost: 1}}
			for want := range 2 { // the first is admitted
				got := 0
				if err := s.Decide(t.Context(), asks, func(a *Answer) { got = a.Refused + 1 }); err != nil || got != want {
					t.Fatalf("%s: got %v and refused %v, want %d", where, err, got, want)
				}
				if want == 0 {
					asks = []Ask{{Key: "a", Cost: 1}}
				}
			}
			if err := s.Release(t.Context(), []Ask{{Key: "a", Cost: 1, Lease: 1}}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A torn bucket and a right one, asked together, are both read and written apart;
// alone the right one is right.
func TestTornBesideRight(t *testing.T) {
	c := clock.New(time.Now(), nil)
	limits := algorithms(t, "token-bucket{burst=10,rate=1/h}", "token-bucket{burst=10,rate=1/h}")
	limits[0].Torn, limits[0].Gap = true, 20*time.Millisecond
	s := NewMemory(limits, c)
	volley := func(asks ...Ask) (n int) {
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				a := decide(t, s, slices.Clone(asks)...) // which are written to
				mu.Lock()
				defer mu.Unlock()
				if a.Admitted {
					n++
				}
			})
		}
		wg.Wait()
		return n
	}
	if got := volley(Ask{Limit: 1, Key: "a", Cost: 1}); got != 10 {
		t.Errorf("the right one: got %d admitted, want 10", got)
	}
	if got := volley(Ask{Limit: 0, Key: "b", Cost: 1}, Ask{Limit: 1, Key: "b", Cost: 1}); got <= 10 {
		t.Errorf("both: got %d admitted, want more than 10", got)
	}
}

// What cannot be torn in Redis, or not be charged apart, says so.
func TestTornErrors(t *testing.T) {
	mixed := append(tornLimits(t, 0, "gcra{burst=1,rate=1/s}"), algorithms(t, "gcra{burst=1,rate=1/s}")...)
	apart := algorithms(t, "gcra{burst=1,rate=1/s}")
	apart[0].Apart = true
	for says, limits := range map[string][]Limit{"give them different stores": mixed, "charges all limits or none": apart} {
		if _, err := NewRedis(RedisOptions{Address: "127.0.0.1:1"}, limits, new(virtual).clock()); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want an error that says %q", err, says)
		}
	}
}

// In memory one of two limits is charged apart: the truth of it has been spent.
func TestApart(t *testing.T) {
	v := new(virtual)
	limits := algorithms(t, "token-bucket{burst=1,rate=1/h}", "token-bucket{burst=5,rate=1/h}")
	for apart, want := range map[bool]int64{false: 4, true: 2} {
		limits[1].Apart = apart
		s := NewMemory(limits, v.clock())
		var a Answer
		for range 3 {
			a = decide(t, s, Ask{Limit: 0, Key: "a", Cost: 1}, Ask{Limit: 1, Key: "a", Cost: 1})
		}
		if got := a.Decisions[1]; a.Admitted || a.Refused != 0 || !got.Admitted || got.After/got.Unit != want {
			t.Errorf("apart %v: got %+v, want %d left", apart, a, want)
		}
	}
}
