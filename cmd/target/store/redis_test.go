package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/internal/lab"
)

func newRedis(t testing.TB, o RedisOptions, modes ...string) *redis {
	t.Helper()
	s, err := NewRedis(o, algorithms(t, modes...), clock.New(time.Now(), nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.(*redis)
}

// b = 10, r = 1/s, twelve calls in a row: the 10th is admitted with 0 left, the
// 11th and 12th are limited with retry 1; 2.1 s later one is admitted with 1
// left.
func TestTwelveCallsInARow(t *testing.T) {
	now := int64(1_772_366_400_000_000)
	r := newRedis(t, RedisOptions{Address: lab.Redis(t).Address, Now: func() int64 { return now }}, "token-bucket{burst=10,rate=1/s}")
	for i := range int64(12) {
		a := decide(t, r, Ask{Key: "a", Cost: 1})
		d := a.Decisions[0]
		if a.Admitted != (i < 10) || d.Remaining != max(0, 9-i) {
			t.Errorf("call %d: got %+v, want %d left", i+1, a, max(0, 9-i))
		}
		if i >= 10 && (d.RetryAfter() != 1 || d.Wait != time.Second) {
			t.Errorf("call %d: got %+v, want a wait of 1 s", i+1, d)
		}
	}
	now += 2_100_000
	if a := decide(t, r, Ask{Key: "a", Cost: 1}); !a.Admitted || a.Decisions[0].Remaining != 1 {
		t.Errorf("2.1 s later: got %+v, want it admitted with 1 left", a)
	}
}

// On Redis's own clock the calls of a moment are within that moment: it tells
// time, and it is a wall clock of now.
func TestRedisTellsTime(t *testing.T) {
	r := newRedis(t, RedisOptions{Address: lab.Redis(t).Address}, "gcra{burst=1,rate=1/h}")
	before := time.Now()
	a := decide(t, r, Ask{Key: "a", Cost: 1})
	if at := time.Unix(0, a.Moments[0]); at.Before(before.Add(-time.Second)) || at.After(time.Now().Add(time.Second)) {
		t.Errorf("decided at %v, it is %v", at, before)
	}
	if a.From.Mono > a.At.Mono || a.From.Mono == a.At.Mono {
		t.Errorf("got from %d to %d, want a time in between", a.From.Mono, a.At.Mono)
	}
	if d := decide(t, r, Ask{Key: "a", Cost: 1}).Decisions[0]; d.Admitted || d.Wait > time.Hour || d.Wait < time.Hour-time.Minute {
		t.Errorf("right after: got %+v, want a wait of almost an hour", d)
	}
}

// 200 at once on b = 10, from many connections: exactly 10, in each of 100 runs.
func TestVolleyInRedisIsExact(t *testing.T) {
	r := newRedis(t, RedisOptions{Address: lab.Redis(t).Address, Timeout: time.Minute}, "token-bucket{burst=10,rate=1/h}")
	for run := range volleys {
		if got := volley(t, r, fmt.Sprint(run)); got != 10 {
			t.Fatalf("run %d: got %d of 200, want 10", run, got)
		}
	}
}

// volley lets 50 goroutines ask 4 times each, and counts what was admitted.
func volley(t testing.TB, s Store, key string) int64 {
	t.Helper()
	var admitted atomic.Int64
	var wg sync.WaitGroup
	start := make(chan struct{})
	for range 50 {
		wg.Go(func() {
			<-start
			for range 4 {
				err := s.Decide(context.Background(), []Ask{{Key: key, Cost: 1}}, func(a *Answer) {
					if a.Admitted {
						admitted.Add(1)
					}
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	close(start)
	wg.Wait()
	return admitted.Load()
}

// One decision is one command, of however many limits; and a Redis that has lost
// the script gets it again.
func TestOneRoundTrip(t *testing.T) {
	server := lab.Redis(t)
	r := newRedis(t, RedisOptions{Address: server.Address}, "token-bucket{burst=1000,rate=1/h}", "sliding-log{rate=1000/h}", "concurrency{burst=1000}")
	ask := []Ask{{Key: "a", Cost: 1}, {Limit: 1, Key: "b", Cost: 2}, {Limit: 2, Key: "c", Cost: 1}}
	decide(t, r, ask...)
	before := commands(t, r)
	for range 50 {
		decide(t, r, ask...)
	}
	// Those of the script are not counted as received: only it and INFO are.
	if got := commands(t, r) - before; got != 51 {
		t.Errorf("got %d commands for 50 decisions, want 50 and the question", got)
	}
	if err := r.client.ScriptFlush(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if a := decide(t, r, ask...); !a.Admitted || a.Decisions[0].Remaining != 1000-52 {
		t.Errorf("after the script was lost: got %+v, want the 52nd admission", a)
	}
}

// commands is how many Redis has been sent.
func commands(t *testing.T, r *redis) int {
	t.Helper()
	info, err := r.client.InfoMap(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, stat := range info["Commandstats"] {
		if name != "cmdstat_evalsha" && name != "cmdstat_info" && name != "cmdstat_eval" {
			continue
		}
		calls, _, _ := strings.Cut(strings.TrimPrefix(stat, "calls="), ",")
		count, err := strconv.Atoi(calls)
		if err != nil {
			t.Fatalf("%s: %v", stat, err)
		}
		n += count
	}
	return n
}

// Every key has a time to live as soon as it is there, of every kind, and it is
// what it takes until the key is as if unused, and what is spared.
func TestEveryKeyExpires(t *testing.T) {
	server := lab.Redis(t)
	for i, kind := range everyKind {
		r := newRedis(t, RedisOptions{Address: server.Address, Prefix: fmt.Sprintf("%d:", i), Spare: 5 * time.Second}, kind)
		a := decide(t, r, Ask{Key: "a", Cost: 1})
		key := r.key(Ask{Key: "a"})
		life, err := r.client.PTTL(t.Context(), key).Result()
		if err != nil || life <= 0 {
			t.Errorf("%s: got a time to live of %v, %v", kind, life, err)
			continue
		}
		reset := a.Decisions[0].Reset
		switch {
		case reset == limiter.Unknown:
			reset = time.Minute // the lease
		case strings.HasPrefix(kind, "sliding-counter"):
			reset = 0 // the end of the next window: see the bound above
		}
		if life < reset || life > max(a.Decisions[0].Reset, reset)+7*time.Second {
			t.Errorf("%s: got a time to live of %v, want %v and up to 7 s", kind, life, reset)
		}
		// A refusal neither prolongs nor loses it.
		for range 60 {
			decide(t, r, Ask{Key: "a", Cost: 1})
		}
		if after, err := r.client.PTTL(t.Context(), key).Result(); err != nil || after <= 0 {
			t.Errorf("%s: after many: got a time to live of %v, %v", kind, after, err)
		}
	}
}

// Keys come, are used up and go, and the memory comes back: 20,000 of them (fewer
// under the race detector) at once.
func TestKeysInRedisExpire(t *testing.T) {
	server := lab.Redis(t)
	r := newRedis(t, RedisOptions{Address: server.Address, Timeout: time.Minute, Spare: 4 * time.Second}, "token-bucket{burst=1,rate=1/ms}")
	decide(t, r, Ask{Key: "warm", Cost: 1})
	time.Sleep(4500 * time.Millisecond) // until it is gone too
	empty := usedMemory(t, r)
	var wg sync.WaitGroup
	const workers = 20
	for w := range workers {
		wg.Go(func() {
			for i := range expiring / workers {
				if err := r.Decide(context.Background(), []Ask{{Key: fmt.Sprintf("%d-%d", w, i), Cost: 1}}, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	full := usedMemory(t, r)
	t.Logf("%d keys: %d bytes each", r.Len(), (full-empty)/int64(max(1, r.Len())))
	for range 600 { // Redis looks for expired keys ten times a second, and at some of them
		if r.Len() == 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if n, swept := r.Len(), usedMemory(t, r); n != 0 || swept-empty > (full-empty)/5 {
		t.Errorf("got %d keys and %d bytes more than before, want none and less than a fifth of %d", n, swept-empty, full-empty)
	}
}

func usedMemory(t *testing.T, r *redis) int64 {
	t.Helper()
	info, err := r.client.InfoMap(t.Context(), "memory").Result()
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(info["Memory"]["used_memory_dataset"], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What the client sent is not in the name of a key, which has one length.
func TestKeysInRedisAreHashed(t *testing.T) {
	r := newRedis(t, RedisOptions{Address: lab.Redis(t).Address, Prefix: "p*[:"}, "meter{burst=2,rate=1/h}")
	secret := strings.Repeat("s3cr3t", 10_000)
	decide(t, r, Ask{Key: secret, Cost: 1})
	decide(t, r, Ask{Key: "other", Cost: 1})
	names, err := r.client.Keys(t.Context(), "*").Result()
	if err != nil || len(names) != 2 || len(names[0]) != len(names[1]) || strings.Contains(names[0]+names[1], "s3cr3t") {
		t.Errorf("got %q, %v, want two names of one length without what was sent", names, err)
	}
	// The prefix is not taken for a pattern.
	if err := r.client.Set(t.Context(), "pxx[:0", "1", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if got := r.Len(); got != 2 {
		t.Errorf("Len: got %d, want 2", got)
	}
}

// Limits that share a prefix do not share states unless they are the same.
func TestOtherSettingsOtherStates(t *testing.T) {
	server := lab.Redis(t)
	for _, limit := range []string{"token-bucket{burst=1,rate=1/h}", "token-bucket{burst=2,rate=1/h}", "gcra{burst=1,rate=1/h}"} {
		r := newRedis(t, RedisOptions{Address: server.Address}, limit)
		if !decide(t, r, Ask{Key: "a", Cost: 1}).Admitted {
			t.Errorf("%s: refused, though it is another limit", limit)
		}
	}
	again := newRedis(t, RedisOptions{Address: server.Address}, "gcra{burst=1,rate=1/h}")
	if decide(t, again, Ask{Key: "a", Cost: 1}).Admitted {
		t.Errorf("the same limit on another server has a budget of its own")
	}
}

// A place that nobody gives back is free again when its lease is over, and not
// before; one that was given back is free at once, and only once.
func TestLeases(t *testing.T) {
	now := int64(1_772_366_400_000_000)
	r := newRedis(t, RedisOptions{Address: lab.Redis(t).Address, Now: func() int64 { return now }, Lease: 10 * time.Second, Spare: time.Minute}, "concurrency{burst=5}")
	take := func(cost int64) []Ask {
		t.Helper()
		asks := []Ask{{Key: "a", Cost: cost}}
		decide(t, r, asks...)
		return asks
	}
	first, second := take(2), take(2)
	if first[0].Lease == second[0].Lease || first[0].Lease <= 0 {
		t.Errorf("got leases %d and %d, want two names", first[0].Lease, second[0].Lease)
	}
	if refused := take(2); refused[0].Lease != 0 {
		t.Errorf("a refusal has lease %d", refused[0].Lease)
	}
	for range 2 {
		if err := r.Release(t.Context(), first); err != nil {
			t.Fatal(err)
		}
	}
	if got := decide(t, r, Ask{Key: "a", Cost: 3}); !got.Admitted || got.Decisions[0].Remaining != 0 {
		t.Errorf("after a release: got %+v, want 3 of 3 free", got)
	}
	now += 9_999_999
	if decide(t, r, Ask{Key: "a", Cost: 1}).Admitted {
		t.Errorf("admitted before a lease was over")
	}
	now++
	if got := decide(t, r, Ask{Key: "a", Cost: 5}); !got.Admitted {
		t.Errorf("after all leases were over: got %+v, want all free", got)
	}
	// A limit that nobody has to give back to is left alone, and so is who holds nothing.
	if err := r.Release(t.Context(), []Ask{{Key: "a", Cost: 5}}); err != nil {
		t.Fatal(err)
	}
	if decide(t, r, Ask{Key: "a", Cost: 1}).Admitted {
		t.Errorf("a release without a lease has freed something")
	}
}

// What the script cannot have exactly is refused when the store is made.
func TestScriptsHaveBounds(t *testing.T) {
	tests := []struct{ limit, says string }{
		{"token-bucket{burst=1000000000,rate=1/1000000007ns}", "2^53"}, // 10^9 tokens of 10^9 units
		{"meter{burst=1000000000,rate=1/1000000007ns}", "2^53"},
		{"gcra{burst=1000000000,rate=1/1000000007ns}", "2^53"},
		{"queue{burst=60000000,rate=1/m}", "century"}, // 114 years
		{"lumps{burst=2,rate=1/1500ns}", "microseconds"},
		{"fixed-window{rate=5/1500ns}", "microseconds"},
		{"sliding-log{rate=5/1500ns}", "microseconds"},
		{"sliding-counter{rate=5/1500ns}", "microseconds"},
		{"concurrency{burst=100001}", "100000"},
	}
	for _, tt := range tests {
		s, err := NewRedis(RedisOptions{Address: "127.0.0.1:1"}, algorithms(t, tt.limit), clock.New(base, nil))
		if err == nil || s != nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, %v, want an error that says %q", tt.limit, s, err, tt.says)
		}
	}
	unknown := []Limit{{Algorithm: limiter.Several([]limiter.Algorithm{algorithms(t, "gcra{burst=1,rate=1/s}")[0].Algorithm})}}
	if _, err := NewRedis(RedisOptions{}, unknown, clock.New(base, nil)); err == nil || !strings.Contains(err.Error(), "no script") {
		t.Errorf("several in one: got %v, want an error", err)
	}
}

// A key that holds something else is an error, and so is a cost that can never
// be admitted, of which Redis does not hear.
func TestRedisErrors(t *testing.T) {
	server := lab.Redis(t)
	r := newRedis(t, RedisOptions{Address: server.Address}, "gcra{burst=2,rate=1/h}", "meter{burst=9,rate=1/h}")
	key := r.key(Ask{Key: "a"})
	if err := r.client.RPush(t.Context(), key, "1").Err(); err != nil {
		t.Fatal(err)
	}
	settle := func(*Answer) { t.Error("an error was settled") }
	err := r.Decide(t.Context(), []Ask{{Key: "a", Cost: 1}}, settle)
	if err == nil || !strings.Contains(err.Error(), server.Address) || !strings.Contains(err.Error(), "WRONGTYPE") {
		t.Errorf("a list where a state should be: got %v", err)
	}
	var wrong *limiter.CostError
	if err := r.Decide(t.Context(), []Ask{{Limit: 1, Key: "a", Cost: 3}, {Key: "b", Cost: 3}}, settle); !errors.As(err, &wrong) || wrong.Most != 2 {
		t.Errorf("a cost of 3: got %v, want a CostError", err)
	}
	if err := r.Decide(t.Context(), []Ask{{Key: "b", Cost: 1}, {Key: "b", Cost: 1}}, settle); !errors.Is(err, ErrAsks) {
		t.Errorf("one key twice: got %v, want ErrAsks", err)
	}
	if err := r.Release(t.Context(), nil); !errors.Is(err, ErrAsks) {
		t.Errorf("a release of nothing: got %v, want ErrAsks", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("Close again: %v", err)
	}
	if err := r.Decide(t.Context(), []Ask{{Key: "b", Cost: 1}}, settle); !errors.Is(err, goredis.ErrClosed) {
		t.Errorf("after Close: got %v", err)
	}
	if got := r.Len(); got != -1 {
		t.Errorf("Len after Close: got %d, want -1", got)
	}
}

// Algorithms that use one script, and limits with other names, have states of
// their own.
func TestRedisTellsLimitsApart(t *testing.T) {
	server := lab.Redis(t)
	v := &virtual{}
	for i, limit := range []Limit{
		algorithms(t, "token-bucket{burst=2,rate=1/h}")[0],
		algorithms(t, "meter{burst=2,rate=1/h}")[0],
		{Name: "by address", Algorithm: algorithms(t, "meter{burst=2,rate=1/h}")[0].Algorithm},
		algorithms(t, "gcra{burst=3,rate=1/h}")[0],
		algorithms(t, "queue{burst=2,rate=1/h}")[0],
	} {
		r, err := NewRedis(RedisOptions{Address: server.Address}, []Limit{limit}, v.clock())
		if err != nil {
			t.Fatal(err)
		}
		if got := admitted(t, r, "a", 5); got < 2 {
			t.Errorf("limit %d: got %d admitted of a fresh key, want what it holds", i, got)
		}
		r.Close()
	}
}

// A log of refusals that is never empty counts exactly beyond 2^53.
func TestRedisLogForEver(t *testing.T) {
	const most = int64(300_000_000_000_000)
	v := &virtual{}
	limits := algorithms(t, "sliding-log{rate=300000000000000/365d,log-refused}")
	r, err := NewRedis(RedisOptions{Address: lab.Redis(t).Address, Now: v.micros}, limits, v.clock())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	m := NewMemory(limits, v.clock())
	for i := range int64(100) { // 3 * 10^16, and 2^53 is 9 * 10^15
		v.now += int64(time.Second)
		ask := Ask{Key: "a", Cost: most - i%7}
		want, got := decide(t, m, ask), decide(t, r, ask)
		if got.Admitted != want.Admitted || got.Decisions[0].Before != want.Decisions[0].Before || got.Decisions[0].After != want.Decisions[0].After {
			t.Fatalf("ask %d: got %+v, want %+v as in memory", i, got.Decisions[0], want.Decisions[0])
		}
	}
}
