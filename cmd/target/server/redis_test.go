package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/internal/lab"
)

// inRedis is a configuration whose limits are there.
func inRedis(t *testing.T, r *lab.RedisServer, settings string, algorithms ...string) Config {
	cfg := Config{}
	route := Route{Answers: dialect.Settings{Fields: []string{"draft"}}}
	for i, a := range algorithms {
		l := Limit{Name: fmt.Sprint("limit-", i+1), Algorithm: parse(t, a), Store: parse(t, "redis{address="+r.Address+settings+"}")}
		if i == 0 {
			l.Key = parseKey(t, "header:X-Api-Key")
		}
		cfg.Limits = append(cfg.Limits, l)
		route.Limits = append(route.Limits, l.Name)
	}
	cfg.Routes = []Route{route}
	return cfg
}

// Of 200 at once on two servers with one store 10 pass, and of a limit for each
// client inside one for all what the lesser allows.
func TestRedisIsShared(t *testing.T) {
	r := lab.Redis(t)
	cfg := inRedis(t, r, "", "token-bucket{burst=10,rate=1/h}", "token-bucket{burst=15,rate=1/h}")
	one, two := startServer(t, cfg), startServer(t, cfg)
	var mu sync.Mutex
	got := map[int]int{}
	var wg sync.WaitGroup
	for _, s := range []*Server{one, two} {
		wg.Go(func() {
			statuses := volley(t, s, "a", 100)
			mu.Lock()
			defer mu.Unlock()
			for status, n := range statuses {
				got[status] += n
			}
		})
	}
	wg.Wait()
	if want := (map[int]int{200: 10, 429: 190}); !maps.Equal(got, want) {
		t.Errorf("one client on both: got %v, want %v", got, want)
	}
	if got, want := volley(t, two, "b", 20), (map[int]int{200: 5, 429: 15}); !maps.Equal(got, want) {
		t.Errorf("another client: got %v, want the 5 that all have left", got)
	}
	records, _ := one.Truth()
	for _, rec := range records {
		if rec.FromNS > rec.MonoNS || rec.DecidedNS == 0 || rec.Policy != "" {
			t.Fatalf("got %+v, want a moment of Redis between two of ours", rec)
		}
	}
}

// Every algorithm that has a script is served from Redis as well.
func TestRedisHasEveryAlgorithm(t *testing.T) {
	r := lab.Redis(t)
	for _, d := range limiter.List() {
		if d.Name == "calendar" { // no script knows the calendar of a zone
			continue
		}
		s := startServer(t, inRedis(t, r, "", d.Example))
		if res, body := fetch(t, "GET", s.URL(), "a", nil); res.StatusCode != 200 || !strings.Contains(body, "limit-1: ") {
			t.Errorf("%s: got %d %s", d.Name, res.StatusCode, body)
		}
	}
}

// Redis is killed and comes back: what clients see meanwhile is the policy, and
// the log says it once each way.
func TestRedisIsKilled(t *testing.T) {
	tests := []struct {
		down string
		want map[int]int // of 5, while Redis is down
	}{
		{"none", map[int]int{503: 5}},
		{"open", map[int]int{200: 5}},
		{"closed", map[int]int{503: 5}},
		{"local", map[int]int{200: 2, 429: 3}},
	}
	for _, tt := range tests {
		r := lab.Redis(t)
		var log bytes.Buffer
		cfg := inRedis(t, r, ",timeout=500ms,down="+tt.down, "token-bucket{burst=3,rate=1/h}")
		cfg.Limits[0].Fallback = parse(t, "token-bucket{burst=2,rate=1/h}")
		cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		s := startServer(t, cfg)
		ask := func(n int) map[int]int {
			got := map[int]int{}
			for range n {
				got[statusOf(s.URL(), "s3cr3t")]++
			}
			return got
		}
		if got, want := ask(5), (map[int]int{200: 3, 429: 2}); !maps.Equal(got, want) {
			t.Errorf("%s, Redis up: got %v, want %v", tt.down, got, want)
		}
		r.Kill()
		if got := ask(5); !maps.Equal(got, tt.want) {
			t.Errorf("%s, Redis down: got %v, want %v", tt.down, got, tt.want)
		}
		if tt.down == "local" { // what stands in answers for itself
			res, body := fetch(t, "GET", s.URL(), "s3cr3t", nil)
			if got, want := res.Header.Get("RateLimit-Policy"), `"limit-1";q=2;w=7200`; got != want || !strings.Contains(body, "2 at once") {
				t.Errorf("got RateLimit-Policy %s and %s, want %s", got, body, want)
			}
		}
		r.Restart()
		if got, want := ask(5), (map[int]int{200: 3, 429: 2}); !maps.Equal(got, want) {
			t.Errorf("%s, Redis up and empty: got %v, want %v", tt.down, got, want)
		}
		s.Close()
		if got := log.String(); strings.Count(got, "cannot be asked") != 1 || strings.Count(got, "can be asked again") != 1 || strings.Contains(got, "s3cr3t") {
			t.Errorf("%s: the log says\n%s", tt.down, got)
		}
	}
}

func TestRedisSettings(t *testing.T) {
	tests := []struct{ store, says string }{
		{"redis", ""},
		{"redis{address=[::1]:6379,prefix=x:,timeout=50ms,down=local,lease=10s}", ""},
		{"redis{address=nowhere}", "write HOST:PORT"},
		{"redis{timeout=1h}", "give 1ms to 1m"},
		{"redis{lease=1ms}", "give 1s to 24h"},
		{"redis{down=maybe}", "none of none, open, closed, local"},
		{"redis{adress=x}", "did you mean address?"},
		{"reddis", "did you mean redis?"},
	}
	for _, tt := range tests {
		err := CheckStore(parse(t, tt.store))
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: got %v, want an error that says %q", tt.store, err, tt.says)
		}
	}
	// Two that are asked together have to be in one place.
	bucket := parse(t, "token-bucket{burst=1,rate=1/h}")
	cfg := Config{Limits: []Limit{{Name: "a", Algorithm: bucket}, {Name: "b", Algorithm: bucket, Store: parse(t, "redis")}}}
	if err := cfg.Check(); err == nil || !strings.Contains(err.Error(), "limits a and b are in different stores") {
		t.Errorf("two stores on one route: got %v", err)
	}
}
