package server

import (
	"context"
	"maps"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// timed are the answers of a server in virtual time: for each status, after how
// many seconds.
type timed struct {
	s     *Server
	began time.Time
	mu    sync.Mutex
	after map[int][]float64
	wg    sync.WaitGroup
}

func newTimed(t *testing.T, cfg Config) *timed {
	t.Helper()
	s, err := build(cfg, time.Now(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &timed{s: s, began: time.Now(), after: map[int][]float64{}}
}

// ask sends n requests at once, which end with ctx.
func (a *timed) ask(ctx context.Context, path, key string, n int) {
	for range n {
		a.wg.Go(func() {
			w := httptest.NewRecorder()
			a.s.nodes[0].handler(a.s.cfg.Listeners[0].name()).ServeHTTP(w, request("GET", path, key, "").WithContext(ctx))
			a.mu.Lock()
			defer a.mu.Unlock()
			a.after[w.Code] = append(a.after[w.Code], time.Since(a.began).Seconds())
		})
	}
	synctest.Wait() // all have been decided on
}

func (a *timed) check(t *testing.T, want map[int][]float64) {
	t.Helper()
	a.wg.Wait()
	for _, seconds := range a.after {
		slices.Sort(seconds)
	}
	if !maps.EqualFunc(a.after, want, slices.Equal) {
		t.Errorf("got answers after %v s, want %v", a.after, want)
	}
}

// A queue holds requests back, and lets one go each second: the first is
// released at once.
func TestQueueHoldsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTimed(t, byHeader(t, "queue{burst=3,rate=1/s}"))
		a.ask(t.Context(), "/", "a", 6)
		a.ask(t.Context(), "/", "b", 1) // another client waits for nobody
		a.check(t, map[int][]float64{200: {0, 0, 1, 2, 3}, 429: {0, 0}})
		records, _ := a.s.Truth()
		var delays []int64
		for _, rec := range records {
			delays = append(delays, rec.DelayNS/1e9)
		}
		slices.Sort(delays)
		if want := []int64{0, 0, 0, 0, 1, 2, 3}; !slices.Equal(delays, want) {
			t.Errorf("truth: got delays of %v s, want %v", delays, want)
		}
	})
}

// As nginx does: of 10 at once at 2/s with burst=5 one passes and five follow
// every half second; with delay=2 three pass at once.
func TestNginxHoldsBack(t *testing.T) {
	tests := []struct {
		limit string
		want  map[int][]float64
	}{
		{"nginx{rate=2/s,burst=5}", map[int][]float64{200: {0, .5, 1, 1.5, 2, 2.5}, 429: {0, 0, 0, 0}}},
		{"nginx{rate=2/s,burst=5,nodelay}", map[int][]float64{200: {0, 0, 0, 0, 0, 0}, 429: {0, 0, 0, 0}}},
		{"nginx{rate=2/s,burst=5,delay=2}", map[int][]float64{200: {0, 0, 0, .5, 1, 1.5}, 429: {0, 0, 0, 0}}},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			a := newTimed(t, byHeader(t, tt.limit))
			a.ask(t.Context(), "/", "a", 10)
			a.check(t, tt.want)
		})
	}
}

// Who goes away while it waits leaves its place, and what it has spent is spent.
func TestClientGoesWhileHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTimed(t, byHeader(t, "queue{burst=2,rate=1/s}"))
		ctx, goAway := context.WithCancel(t.Context())
		a.ask(ctx, "/", "a", 3)
		if got := len(a.s.nodes[0].room.places); got != 2 {
			t.Errorf("got %d waiting, want 2", got)
		}
		goAway()
		a.wg.Wait()
		if got := time.Since(a.began); got != 0 || len(a.s.nodes[0].room.places) != 0 {
			t.Errorf("gone after %v with %d waiting, want at once and none", got, len(a.s.nodes[0].room.places))
		}
		a.ask(t.Context(), "/", "a", 1)
		a.check(t, map[int][]float64{200: {0, 0, 0}, 429: {0}})
	})
}

// There is room for so many to wait, whoever they are; the rest is shed, with
// what it has spent.
func TestRoomIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := byHeader(t, "queue{burst=5,rate=1/s}")
		cfg.MaxWaiting = 2
		a := newTimed(t, cfg)
		a.ask(t.Context(), "/", "a", 3)
		a.ask(t.Context(), "/", "b", 3)
		a.check(t, map[int][]float64{200: {0, 0, 1, 2}, 503: {0, 0}})
		records, _ := a.s.Truth()
		for _, rec := range records {
			if !rec.Admitted || rec.Status == 503 && rec.DelayNS != 0 {
				t.Errorf("got %+v, want all admitted, and what was shed not held back", rec)
			}
		}
	})
}

// What is admitted and then shed keeps no place to wait in.
func TestShedLeavesTheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTimed(t, routed(t, "queue{burst=5,rate=1/s}", Route{Mode: parse(t, "order{pending=1}")}))
		a.ask(t.Context(), "/", "a", 4)
		if got := len(a.s.nodes[0].room.places); got > 1 {
			t.Errorf("got %d waiting, want at most the one that is pending", got)
		}
		a.wg.Wait()
		if got := len(a.s.nodes[0].room.places); got != 0 {
			t.Errorf("got %d waiting at the end, want 0", got)
		}
	})
}

// A request that would be held back for longer than any is turned away; a queue
// that is that long cannot be started.
func TestDelayIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTimed(t, byHeader(t, "nginx{rate=6/m,burst=100}"))
		a.ask(t.Context(), "/", "a", 63)
		a.wg.Wait()
		// One every 10 s: the 61st waits 600 s, the next ones longer.
		if ok, shed := len(a.after[200]), len(a.after[503]); ok != 61 || shed != 2 {
			t.Errorf("got %d served and %d turned away, want 61 and 2", ok, shed)
		}
	})
	if err := byHeader(t, "queue{burst=11,rate=1/m}").Check(); err == nil {
		t.Errorf("a queue of 11 minutes: got no error")
	}
	if err := byHeader(t, "queue{burst=10,rate=1/m}").Check(); err != nil {
		t.Errorf("a queue of 10 minutes: got %v", err)
	}
}

// A concurrency limit admits again as soon as one is done, also if its client
// goes away or it is shed.
func TestConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := routed(t, "concurrency{burst=2}", Route{Mode: parse(t, "order{work=1s,pending=3}")})
		a := newTimed(t, cfg)
		a.ask(t.Context(), "/", "a", 3)
		time.Sleep(time.Second)
		synctest.Wait()
		a.ask(t.Context(), "/", "a", 2)
		ctx, goAway := context.WithCancel(t.Context())
		a.ask(ctx, "/", "b", 1)
		a.ask(t.Context(), "/", "b", 1) // the fourth pending: shed
		goAway()
		synctest.Wait()
		a.ask(t.Context(), "/", "c", 1) // has the place of the one that went
		a.check(t, map[int][]float64{200: {1, 1, 1, 2, 2, 2}, 429: {0, 1}})
		a.ask(t.Context(), "/", "b", 2) // nothing was left behind
		a.check(t, map[int][]float64{200: {1, 1, 1, 2, 2, 2, 3, 3}, 429: {0, 1}})
	})
}

// A refused request leaves a concurrency limit that it would have passed alone.
func TestConcurrencyWithAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTimed(t, Config{
			Limits: []Limit{
				{Name: "at-once", Algorithm: parse(t, "concurrency{burst=1}")},
				{Name: "total", Algorithm: parse(t, "token-bucket{burst=3,rate=1/h}")},
			},
			Routes: []Route{{Limits: []string{"at-once", "total"}, Mode: parse(t, "order{work=1s}"), Answers: dialect.Settings{Status: 503}}},
		})
		for range 4 {
			a.ask(t.Context(), "/", "", 2) // one of two passes, until the total is used up
			a.wg.Wait()
		}
		a.check(t, map[int][]float64{200: {1, 2, 3}, 503: {0, 1, 2, 3, 3}})
	})
}
