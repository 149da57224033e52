package store

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/internal/lab"
)

// everyKind is every algorithm in every form. What divides time evenly and what
// does not are both there.
var everyKind = []string{
	"token-bucket{burst=10,rate=1/s}",
	"token-bucket{burst=7,rate=100/m}",
	"token-bucket{burst=3,rate=7/11us}",
	"token-bucket{burst=9,rate=9999/day}",
	"meter{burst=7,rate=100/m}",
	"meter{burst=3,rate=3/s}",
	"gcra{burst=7,rate=100/m}",
	"gcra{burst=3,rate=7/11us}",
	"gcra{burst=9,rate=9999/day}",
	"queue{burst=5,rate=3/s}",
	"queue{burst=2,rate=7/13us}",
	"lumps{burst=10,rate=6/3s}",
	"lumps{burst=5,rate=9/7ms,align=epoch}",
	"lumps{burst=7,rate=2/999983us,align=start}",
	"fixed-window{rate=5/10s}",
	"fixed-window{rate=3/7ms,align=start}",
	"fixed-window{rate=4/999983us,align=first-hit}",
	"sliding-log{rate=5/10s}",
	"sliding-log{rate=7/999983us}",
	"sliding-log{rate=4/7ms,log-refused}",
	"sliding-log{rate=40/s,log-refused}",
	"sliding-counter{rate=5/10s}",
	"sliding-counter{rate=7/999983us,align=start}",
	"sliding-counter{rate=4/7ms,test=lt}",
	"nginx{rate=100/m,burst=5}",
	"nginx{rate=700/s,burst=3,delay=1}",
	"nginx{rate=30/m,burst=2,nodelay}",
	"concurrency{burst=5}",
}

// walker asks two stores the same, in virtual time.
type walker struct {
	virtual
	random        *rand.Rand
	limits        []Limit
	memory, redis Store
	admitted      [2]int   // how many were not, and were
	under         [][2]any // asks of both that were admitted by a limit that wants to be told of the end
}

func newWalker(t *testing.T, server *lab.RedisServer, seed uint64, modes ...string) *walker {
	w := &walker{random: rand.New(rand.NewPCG(seed, 1)), limits: algorithms(t, modes...)}
	c := w.clock()
	w.memory = NewMemory(w.limits, c)
	// What expires does so in real time: far more is spared than a test takes.
	r, err := NewRedis(RedisOptions{Address: server.Address, Prefix: t.Name() + ":", Timeout: time.Minute, Spare: time.Hour, Lease: time.Hour, Now: w.micros}, w.limits, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	w.redis = r
	return w
}

// pause lets a time pass that may matter to one of the limits.
func (w *walker) pause() {
	p := w.limits[w.random.IntN(len(w.limits))].Algorithm.Promise()
	token, period := int64(time.Millisecond), int64(time.Second)
	if p.Rate.Per > 0 {
		token, period = int64(p.Rate.Time(1)), int64(p.Rate.Per)
	}
	var ns int64
	switch w.random.IntN(6) {
	case 0:
	case 1:
		ns = w.random.Int64N(10_000)
	case 2:
		ns = token + 1000*(w.random.Int64N(3)-1)
	case 3:
		ns = w.random.Int64N(3 * token)
	case 4:
		ns = period - w.random.Int64N(2*token)
	case 5:
		ns = w.random.Int64N(3 * period)
	}
	w.now += max(0, ns) / 1000 * 1000
}

func (w *walker) asks() (asks []Ask) {
	for i, l := range w.limits {
		most := l.Algorithm.View(l.Algorithm.Fresh(0), 0).Limit
		cost := int64(1)
		if w.random.IntN(3) == 0 {
			cost = 1 + w.random.Int64N(most)
		}
		asks = append(asks, Ask{Limit: i, Key: fmt.Sprint(w.random.IntN(2)), Cost: cost})
	}
	return asks
}

// step asks both, and wants the same of them.
func (w *walker) step(t *testing.T) {
	t.Helper()
	w.pause()
	asks := w.asks()
	inMemory, inRedis := append([]Ask(nil), asks...), append([]Ask(nil), asks...)
	want, got := decide(t, w.memory, inMemory...), decide(t, w.redis, inRedis...)
	for i := range want.Decisions {
		want.Decisions[i] = inMicroseconds(want.Decisions[i])
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("at %d: %+v:\n got %+v in Redis,\nwant %+v as in memory", w.now, asks, got, want)
	}
	if !want.Admitted {
		w.admitted[0]++
		return
	}
	w.admitted[1]++
	w.under = append(w.under, [2]any{inMemory, inRedis})
	if len(w.under) > 2 {
		w.release(t)
	}
}

// release tells both of the end of a request.
func (w *walker) release(t *testing.T) {
	t.Helper()
	i := w.random.IntN(len(w.under))
	done := w.under[i]
	w.under = append(w.under[:i], w.under[i+1:]...)
	if err := w.memory.Release(t.Context(), done[0].([]Ask)); err != nil {
		t.Fatal(err)
	}
	if err := w.redis.Release(t.Context(), done[1].([]Ask)); err != nil {
		t.Fatal(err)
	}
}

// Memory and Redis give the same answers to the same sequence, to the last unit
// and microsecond, for every algorithm.
func TestMemoryAndRedisAreTheSame(t *testing.T) {
	server := lab.Redis(t)
	for i, kind := range everyKind {
		t.Run(kind, func(t *testing.T) {
			w := newWalker(t, server, uint64(i), kind)
			for range walk {
				w.step(t)
			}
			if w.admitted[0] == 0 || w.admitted[1] == 0 {
				t.Errorf("got %v refused and admitted: the test shows nothing", w.admitted)
			}
		})
	}
}

// So they do for several limits at once, all or nothing.
func TestMemoryAndRedisAreTheSameForSeveral(t *testing.T) {
	server := lab.Redis(t)
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 2))
			var kinds []string
			for range 2 + random.IntN(3) {
				kinds = append(kinds, everyKind[random.IntN(len(everyKind))])
			}
			w := newWalker(t, server, seed, kinds...)
			for range walk {
				w.step(t)
			}
			t.Logf("%v: %v refused and admitted", kinds, w.admitted)
		})
	}
}

// A wrong limiter that only tells something else is as wrong in Redis.
func TestWrapperInRedis(t *testing.T) {
	v := &virtual{}
	limits := algorithms(t, "fixed-window{rate=3/m}")
	limits[0].Algorithm = boasting{limits[0].Algorithm}
	r, err := NewRedis(RedisOptions{Address: lab.Redis(t).Address, Now: v.micros}, limits, v.clock())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := decide(t, r, Ask{Key: "a", Cost: 1}).Decisions[0].Remaining; got != 102 {
		t.Errorf("got %d left, want 100 more than 2", got)
	}
}

// boasting tells of 100 tokens that are not there.
type boasting struct{ limiter.Algorithm }

func (b boasting) Unwrap() limiter.Algorithm { return b.Algorithm }

func (b boasting) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	d, err := b.Algorithm.Decide(s, now, cost)
	d.Remaining += 100
	return d, err
}
