package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/internal/lab"
	"github.com/ratehammer/ratehammer/results"
)

// rightOnes are the algorithms of the reference server, and the promise that
// each is checked against. Where the promise is a bucket nothing less than
// 'kept' will do.
var rightOnes = []struct {
	algorithm, promise string
	bucket             bool
}{
	{"token-bucket{burst=10,rate=5/s}", "--contract token-bucket --burst 10 --rate 5/s", true},
	{"gcra{burst=10,rate=5/s}", "--contract gcra --burst 10 --rate 5/s", true},
	{"meter{burst=10,rate=5/s}", "--contract token-bucket --burst 10 --rate 5/s", true},
	{"nginx{rate=5/s,burst=9,nodelay}", "--contract nginx --burst 10 --rate 5/s", true},
	{"lumps{burst=10,rate=2/400ms}", "--contract lumps --burst 10 --rate 2/400ms --align first-hit", false},
	{"queue{burst=10,rate=5/s}", "--contract queue --burst 10 --rate 5/s", false},
	{"fixed-window{rate=5/1s,align=epoch}", "--contract fixed-window --rate 5/1s", false},
	{"fixed-window{rate=5/1s,align=first-hit}", "--contract fixed-window --rate 5/1s", false},
	{"sliding-log{rate=5/1s}", "--contract sliding-log --rate 5/1s", false},
	{"sliding-counter{rate=5/1s}", "--contract sliding-counter --rate 5/1s", false},
	{"concurrency{burst=10}", "--contract concurrency --burst 10", false},
}

// Every right algorithm, with its states in memory and in a real Redis, keeps
// its own promise, and is never accused.
func TestRightAlgorithmsKeepTheirPromise(t *testing.T) {
	redis := lab.Redis(t)
	for _, store := range []string{"memory", "redis{address=" + redis.Address + "}"} {
		base := serveRight(t, store)
		name, _, _ := strings.Cut(store, "{")
		for i, tt := range rightOnes {
			t.Run(name+"/"+tt.algorithm, func(t *testing.T) {
				t.Parallel()
				// A busy machine may leave a run undecided, but never broken.
				var r = results.Inconclusive
				for seed := 1; seed <= 3 && r == results.Inconclusive; seed++ {
					args := append([]string{"check", fmt.Sprintf("%s/%d", base, i), "--seed", fmt.Sprint(seed)}, strings.Fields(tt.promise)...)
					_, got := hammer(t, args...)
					r = got.Status
					t.Log(got.Status, got.Headline)
					if r == results.Inconclusive && !tt.bucket {
						return
					}
				}
				if r != results.Kept {
					t.Errorf("got %s, want kept", r)
				}
			})
		}
	}
}

// A policy that a right server announces names no algorithm: whichever it is, it
// is not accused.
func TestAnnouncedPolicyIsNotMisjudged(t *testing.T) {
	for _, algorithm := range []string{"fixed-window{rate=10/2s}", "sliding-log{rate=10/2s}", "sliding-counter{rate=10/2s}", "token-bucket{burst=10,rate=5/s}"} {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			s := serve(t, "header:X-Api-Key", algorithm)
			_, r := hammer(t, "check", s.URL())
			if r.Status == results.Broken || len(r.Promise) != 1 || !strings.Contains(r.Promise[0], "quota rate 10/2s") {
				t.Errorf("got %s for %q: %s", r.Status, r.Promise, r.Headline)
			}
			t.Log(r.Status, r.Headline)
		})
	}
}

// A key that proxies write is an address: fresh ones are addresses too.
func TestForwardedKeys(t *testing.T) {
	for key, name := range map[string]string{"xff{trusted=1}": "X-Forwarded-For", "forwarded{trusted=1}": "Forwarded"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, key, "token-bucket{burst=10,rate=5/s}")
			_, r := hammer(t, "check", s.URL(), "--burst", "10", "--rate", "5/s", "--key", "header:"+name, "--for", "4s")
			if r.Status == results.Broken {
				t.Errorf("got %s: %s", r.Status, r.Headline)
			}
			for _, f := range r.Findings {
				if f.Check == "key.isolation" && f.Status != results.Kept {
					t.Errorf("isolation: got %s: %s", f.Status, f.Text)
				}
			}
		})
	}
}

// serve starts a server with one limit, which it announces.
func serve(t *testing.T, clients, algorithm string) *server.Server {
	t.Helper()
	l := server.Limit{}
	var err error
	if l.Algorithm, err = mode.Parse(algorithm); err != nil {
		t.Fatal(err)
	}
	if l.Key, err = key.Parse(clients); err != nil {
		t.Fatal(err)
	}
	cfg := server.Config{Limits: []server.Limit{l}, Routes: []server.Route{{Limits: []string{server.DefaultName}, Answers: dialect.Settings{Fields: []string{"draft"}}}}}
	s, err := server.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// serveRight starts a server with each of the right ones on a path of its own.
func serveRight(t *testing.T, in string) string {
	t.Helper()
	cfg := server.Config{}
	for i, tt := range rightOnes {
		l := server.Limit{Name: fmt.Sprint(i)}
		var err error
		if l.Algorithm, err = mode.Parse(tt.algorithm); err != nil {
			t.Fatal(err)
		}
		if _, err := limiter.New(l.Algorithm); err != nil {
			t.Fatal(err)
		}
		if l.Store, err = mode.Parse(in); err != nil {
			t.Fatal(err)
		}
		if l.Key, err = key.Parse("header:X-Api-Key"); err != nil {
			t.Fatal(err)
		}
		cfg.Limits = append(cfg.Limits, l)
		cfg.Routes = append(cfg.Routes, server.Route{Path: "/" + l.Name, Limits: []string{l.Name}})
	}
	s, err := server.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return strings.TrimSuffix(s.URL(), "/")
}
