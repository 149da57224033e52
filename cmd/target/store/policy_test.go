package store

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/internal/lab"
)

// guard is Redis behind a policy, with a local store of 2 tokens where the one
// in Redis has 5.
func guard(t *testing.T, server *lab.RedisServer, p Policy, limit time.Duration) Store {
	t.Helper()
	c := clock.New(time.Now(), nil)
	r := newRedis(t, RedisOptions{Address: server.Address, Timeout: time.Minute}, "token-bucket{burst=5,rate=1/h}", "concurrency{burst=1}")
	var local Store
	if p == Local {
		local = NewMemory(algorithms(t, "token-bucket{burst=2,rate=1/h}", "concurrency{burst=1}"), c)
	}
	g, err := Guard(r, p, limit, local, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// Each policy with Redis up, frozen, thawed, dead and back again: it answers what
// it is called, says that it does and why, and does not take longer than it may.
func TestPolicies(t *testing.T) {
	const limit = 300 * time.Millisecond
	tests := []struct {
		policy Policy
		down   int // of 4 requests that are admitted while Redis is down
	}{
		{Open, 4},
		{Closed, 0},
		{Local, 2},
	}
	for _, tt := range tests {
		t.Run(tt.policy.String(), func(t *testing.T) {
			server := lab.Redis(t)
			g := guard(t, server, tt.policy, limit)
			count := func(key string, by Policy) (n int) {
				t.Helper()
				for range 4 {
					begin := time.Now()
					a := decide(t, g, Ask{Key: key, Cost: 1})
					if took := time.Since(begin); took > limit+5*time.Second {
						t.Errorf("%s: took %v, where %v are allowed", key, took, limit)
					}
					if a.Policy != by || (a.Cause != nil) != (by != None) || len(a.Decisions) != 1 || a.Admitted != (a.Refused < 0) {
						t.Errorf("%s: got %+v, want an answer by %v", key, a, by)
					}
					if a.Admitted {
						n++
					}
				}
				return n
			}
			if got := count("a", None); got != 4 {
				t.Errorf("up: got %d of 4 admitted, want 4", got)
			}
			server.Freeze()
			if got := count("b", tt.policy); got != tt.down {
				t.Errorf("frozen: got %d of 4 admitted, want %d", got, tt.down)
			}
			server.Thaw()
			awaitStore(t, g)
			if got := count("a", None); got != 1 {
				t.Errorf("thawed: got %d of 4 admitted, want the 1 that is left of 5", got)
			}
			server.Kill()
			if got := count("c", tt.policy); got != tt.down {
				t.Errorf("dead: got %d of 4 admitted, want %d", got, tt.down)
			}
			server.Restart()
			awaitStore(t, g)
			if got := count("a", None); got != 4 {
				t.Errorf("back with nothing: got %d of 4 admitted, want 4", got)
			}
		})
	}
}

// awaitStore asks until the store itself answers.
func awaitStore(t *testing.T, g Store) {
	t.Helper()
	for range 100 {
		if decide(t, g, Ask{Key: "awaited", Cost: 1}).Policy == None {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the store is up and does not answer")
}

// Without a policy a store that is down is an error, and nothing is settled.
func TestNoPolicy(t *testing.T) {
	server := lab.Redis(t)
	g := guard(t, server, None, 200*time.Millisecond)
	server.Kill()
	err := g.Decide(t.Context(), []Ask{{Key: "a", Cost: 1}}, func(*Answer) { t.Error("settled") })
	if err == nil || !strings.Contains(err.Error(), server.Address) {
		t.Errorf("got %v, want an error that names %s", err, server.Address)
	}
}

// failing is a store that cannot decide, or takes as long as it may.
type failing struct {
	Store
	slow     bool
	released []Ask
}

var errFailing = errors.New("no store today")

func (f *failing) Decide(ctx context.Context, asks []Ask, settle func(*Answer)) error {
	if f.slow {
		<-ctx.Done()
		return ctx.Err()
	}
	return errFailing
}

func (f *failing) Release(_ context.Context, asks []Ask) error {
	f.released = append(f.released, asks...)
	return nil
}

func (f *failing) Close() error { return errFailing }

// What is the caller's mistake stays it, and is no reason for a policy.
func TestPolicyIsNotForMistakes(t *testing.T) {
	v := &virtual{}
	m := NewMemory(algorithms(t, "gcra{burst=1,rate=1/h}"), v.clock())
	g, err := Guard(m, Open, time.Second, nil, v.clock())
	if err != nil {
		t.Fatal(err)
	}
	settle := func(*Answer) { t.Error("settled") }
	if err := g.Decide(t.Context(), []Ask{{Key: "a", Cost: 2}}, settle); !errors.As(err, new(*limiter.CostError)) {
		t.Errorf("a cost of 2: got %v, want a CostError", err)
	}
	if err := g.Decide(t.Context(), nil, settle); !errors.Is(err, ErrAsks) {
		t.Errorf("no asks: got %v, want ErrAsks", err)
	}
	// Nor is a client that has gone away.
	g, _ = Guard(&failing{slow: true}, Open, time.Minute, nil, v.clock())
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Decide(gone, []Ask{{Key: "a", Cost: 1}}, settle); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that is gone: got %v", err)
	}
}

// A place that was taken in one store is given back there, and one that no store
// has given nowhere.
func TestPolicyReleases(t *testing.T) {
	v := &virtual{}
	local := NewMemory(algorithms(t, "concurrency{burst=1}"), v.clock())
	down := &failing{}
	g, err := Guard(down, Local, time.Second, local, v.clock())
	if err != nil {
		t.Fatal(err)
	}
	asks := []Ask{{Key: "a", Cost: 1}}
	if a := decide(t, g, asks...); !a.Admitted || a.Policy != Local || !errors.Is(a.Cause, errFailing) {
		t.Errorf("got %+v, want it admitted here", a)
	}
	if decide(t, g, Ask{Key: "a", Cost: 1}).Admitted {
		t.Errorf("got a second place of one")
	}
	if err := g.Release(t.Context(), asks); err != nil || len(down.released) > 0 {
		t.Errorf("got %v, and %v given back elsewhere", err, down.released)
	}
	if !decide(t, g, Ask{Key: "a", Cost: 1}).Admitted {
		t.Errorf("refused after the place was given back")
	}
	if err := g.Release(t.Context(), []Ask{{Key: "a", Cost: 1, Lease: 7}, {Key: "b", Cost: 1}}); err != nil || len(down.released) != 1 || down.released[0].Lease != 7 {
		t.Errorf("got %v and %v, want the one lease of 7 given back to the store", err, down.released)
	}
	if err := g.Close(); !errors.Is(err, errFailing) {
		t.Errorf("Close: got %v, want that of the store", err)
	}
}

// The figures of a policy that knows nothing claim nothing.
func TestPolicyFigures(t *testing.T) {
	v := &virtual{}
	for _, p := range []Policy{Open, Closed} {
		g, err := Guard(&failing{}, p, time.Second, nil, v.clock())
		if err != nil {
			t.Fatal(err)
		}
		a := decide(t, g, Ask{Key: "a", Cost: 1, Lease: 9}, Ask{Key: "b", Cost: 1})
		for _, d := range a.Decisions {
			if d.Admitted != a.Admitted || d.Limit != 0 || d.Remaining != 0 || d.Unit != 1 || !d.Admitted && d.Wait != limiter.Unknown {
				t.Errorf("%v: got %+v, want no figures", p, d)
			}
		}
		if a.Admitted != (p == Open) || a.From.Mono > a.At.Mono || a.Moments != nil {
			t.Errorf("%v: got %+v", p, a)
		}
	}
}

func TestGuardErrors(t *testing.T) {
	v := &virtual{}
	m := NewMemory(nil, v.clock())
	tests := []struct {
		policy Policy
		limit  time.Duration
		local  Store
		says   string
	}{
		{Open, 0, nil, "time limit"},
		{Local, time.Second, nil, "local store"},
		{Closed, time.Second, m, "local store"},
	}
	for _, tt := range tests {
		if g, err := Guard(m, tt.policy, tt.limit, tt.local, v.clock()); err == nil || g != nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v, %v: got %v, %v, want an error that says %q", tt.policy, tt.limit, g, err, tt.says)
		}
	}
	for _, p := range []Policy{None, Open, Closed, Local} {
		if got, err := ParsePolicy(p.String()); err != nil || got != p {
			t.Errorf("ParsePolicy(%v): got %v, %v", p, got, err)
		}
	}
	if _, err := ParsePolicy("ajar"); err == nil || !strings.Contains(err.Error(), "open, closed") {
		t.Errorf("ParsePolicy(ajar): got %v", err)
	}
}
