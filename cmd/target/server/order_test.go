package server

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

func newOrder(t *testing.T, limit, order string) *rig {
	return newRig(t, routed(t, limit, Route{Mode: parse(t, order)}))
}

// Each check comes before all that stand below it: a request that fails several
// is answered by the first.
func TestOrderOfChecks(t *testing.T) {
	large := strings.Repeat("[", 65_537) // too large, and not JSON
	tests := []struct {
		name   string
		mode   string
		spent  bool // whether the bucket was emptied before
		body   string
		status int
		kind   string
	}{
		{"too large comes before malformed and spent", "order{backend=dead}", true, large, 413, dialect.NoSpecialType},
		{"malformed comes before spent", "order{backend=dead}", true, "{", 400, dialect.NoSpecialType},
		{"spent comes before dead", "order{backend=dead}", true, "{}", 429, dialect.QuotaExceeded},
		{"dead comes before pending", "order{backend=dead,pending=0}", false, "{}", 503, dialect.NoSpecialType},
		{"pending comes last", "order{pending=0}", false, "{}", 429, dialect.ReducedCapacity},
	}
	for _, tt := range tests {
		r := newOrder(t, "token-bucket{burst=1,rate=1/h}", tt.mode)
		if tt.spent {
			r.get("a")
		}
		checkProblem(t, r.do(request("POST", "/", "a", tt.body)), tt.status, tt.kind)
	}
}

func TestOrderBodies(t *testing.T) {
	atLimit := `"` + strings.Repeat("x", 65_534) + `"` // 65,536 bytes
	tests := []struct {
		name, method, body string
		status             int
	}{
		{"an object", "POST", `{"a":1}`, 200},
		{"any JSON value", "PUT", " null ", 200},
		{"no body", "POST", "", 200},
		{"a GET", "GET", "", 200},
		{"a GET with a body is checked too", "GET", "{", 400},
		{"malformed", "POST", `{"a":}`, 400},
		{"two values", "POST", "{}{}", 400},
		{"white space only", "POST", " ", 400},
		{"just at the limit", "POST", atLimit, 200},
		{"one over it", "POST", atLimit + " ", 413},
	}
	for _, tt := range tests {
		r := newOrder(t, "token-bucket{burst=1,rate=1/h}", "order")
		if got := r.do(request(tt.method, "/play", "a", tt.body)).StatusCode; got != tt.status {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.status)
		}
		// Neither 413 nor 400 spends the one token that there is.
		want := 200
		if tt.status == 200 {
			want = 429
		}
		if got := r.get("a").StatusCode; got != want {
			t.Errorf("%s: then got %d, want %d", tt.name, got, want)
		}
	}
}

// A dead backend has cost the token: the third is refused by the bucket.
func TestDeadBackendSpends(t *testing.T) {
	r := newOrder(t, "token-bucket{burst=2,rate=1/h}", "order{backend=dead}")
	if got, want := r.statuses("a", 5), (map[int]int{503: 2, 429: 3}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	records, _ := r.Truth()
	if len(records) != 5 || !records[0].Admitted || records[0].Status != 503 || records[2].Admitted || records[2].Status != 429 {
		t.Errorf("truth: got %+v, want two admitted with 503 and three refused with 429", records)
	}
}

// Reading of /health and /static/ is never limited, needs no key and leaves no
// truth; everything that only looks like it is.
func TestUnlimitedPaths(t *testing.T) {
	tests := []struct {
		method, path string
		limited      bool
	}{
		{"GET", "/health", false},
		{"HEAD", "/health", false},
		{"GET", "/health?x=1", false},
		{"GET", "/static/app.js", false},
		{"GET", "/static/a/b.css", false},
		{"POST", "/health", true},
		{"GET", "/healthy", true},
		{"GET", "/static", true},
		{"GET", "/static/../play", true},
		{"GET", "/static/%2e%2e/play", true},
		{"GET", "/", true},
	}
	for _, tt := range tests {
		r := newOrder(t, "token-bucket{burst=1,rate=1/h}", "order{backend=dead}")
		r.get("a") // the only token
		for range 5 {
			want := 200
			if tt.limited {
				want = 429
			}
			if got := r.do(request(tt.method, tt.path, "a", "")).StatusCode; got != want {
				t.Errorf("%s %s: got %d, want %d", tt.method, tt.path, got, want)
			}
		}
		if !tt.limited {
			if got := r.do(request(tt.method, tt.path, "", "")).StatusCode; got != 200 {
				t.Errorf("%s %s without a key: got %d, want 200", tt.method, tt.path, got)
			}
			if records, _ := r.Truth(); len(records) != 1 {
				t.Errorf("%s %s: got %d decisions, want the one before", tt.method, tt.path, len(records))
			}
		}
	}
}

// Two places, one second of work, all clients share them. In virtual time.
func TestPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := routed(t, "token-bucket{burst=10,rate=1/h}", Route{Mode: parse(t, "order{pending=2,work=1s}")})
		s, err := build(cfg, time.Now(), nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var mu sync.Mutex
		took := map[int][]time.Duration{} // by status
		ask := func(key string) {
			w := httptest.NewRecorder()
			s.nodes[0].life().routes[0].handle(w, request("POST", "/", key, "{}"))
			res := w.Result()
			mu.Lock()
			defer mu.Unlock()
			took[res.StatusCode] = append(took[res.StatusCode], time.Since(began))
			if res.StatusCode == http.StatusTooManyRequests {
				checkProblem(t, res, 429, dialect.ReducedCapacity)
				if got := res.Header.Get("Retry-After"); got != "1" {
					t.Errorf("shed: got Retry-After %q, want 1", got)
				}
			}
		}
		var wg sync.WaitGroup
		for _, key := range []string{"a", "b"} {
			wg.Go(func() { ask(key) })
		}
		synctest.Wait() // both are at work
		for _, key := range []string{"a", "c"} {
			wg.Go(func() { ask(key) })
		}
		wg.Wait()
		if got := took[429]; len(got) != 2 || got[0] != 0 || got[1] != 0 {
			t.Errorf("shed after: got %v, want two at once", got)
		}
		if got := took[200]; len(got) != 2 || got[0] != time.Second || got[1] != time.Second {
			t.Errorf("admitted after: got %v, want two after 1 s", got)
		}
		ask("d") // the places are free again
		if got := took[200]; len(got) != 3 || got[2] != 2*time.Second {
			t.Errorf("then: got %v, want one more after 2 s", got)
		}
		// Shedding comes after the token: it was spent.
		records, _ := s.Truth()
		shed := 0
		for _, rec := range records {
			if rec.Admitted && rec.Status == 429 {
				shed++
			}
		}
		if len(records) != 5 || shed != 2 {
			t.Errorf("truth: got %+v, want 5 admitted of which 2 were shed", records)
		}
	})
}

// A client that goes away gives its place back at once.
func TestPendingClientGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := routed(t, "token-bucket{burst=10,rate=1/h}", Route{Mode: parse(t, "order{pending=1,work=1m}")})
		s, err := build(cfg, time.Now(), nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, goAway := context.WithCancel(t.Context())
		began := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			s.nodes[0].life().routes[0].handle(httptest.NewRecorder(), request("GET", "/", "a", "").WithContext(ctx))
		})
		synctest.Wait()
		goAway()
		wg.Wait()
		if got := time.Since(began); got != 0 {
			t.Errorf("gone after %v, want 0s", got)
		}
		if got := len(s.nodes[0].life().routes[0].front.(*order).places); got != 0 {
			t.Errorf("got %d places taken, want 0", got)
		}
	})
}
