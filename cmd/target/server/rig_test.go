package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// rig is a server without listeners, in virtual time.
type rig struct {
	*Server
	t   *testing.T
	now time.Duration
}

func newRig(t *testing.T, cfg Config) *rig {
	t.Helper()
	r := &rig{t: t}
	s, err := build(cfg, start, func() int64 { return int64(r.now) })
	if err != nil {
		t.Fatal(err)
	}
	r.Server = s
	return r
}

func parse(t testing.TB, s string) mode.Mode {
	t.Helper()
	m, err := mode.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// byHeader is the configuration of most tests.
func byHeader(t testing.TB, limit string, defects ...string) Config {
	cfg := Config{Limit: parse(t, limit), Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}}
	for _, d := range defects {
		cfg.Defects = append(cfg.Defects, parse(t, d))
	}
	return cfg
}

// routed is the same with one route of its own.
func routed(t testing.TB, limit string, r Route) Config {
	cfg := byHeader(t, limit)
	r.Limits = []string{DefaultName}
	cfg.Routes = []Route{r}
	return cfg
}

func parseKey(t testing.TB, s string) key.Key {
	t.Helper()
	k, err := key.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func request(method, target, key, body string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if key != "" {
		r.Header.Set("X-Api-Key", key)
	}
	return r
}

func (r *rig) do(req *http.Request) *http.Response {
	r.t.Helper()
	w := httptest.NewRecorder()
	r.nodes[0].handler(r.cfg.Listeners[0].name()).ServeHTTP(w, req)
	return w.Result()
}

func (r *rig) get(key string) *http.Response { return r.do(request("GET", "/", key, "")) }

// statuses counts the answers to n requests of key at once.
func (r *rig) statuses(key string, n int) map[int]int {
	got := map[int]int{}
	for range n {
		got[r.get(key).StatusCode]++
	}
	return got
}

type problemBody struct {
	Type, Title, Detail string
	Status              int
	Violated            []string `json:"violated-policies"`
}

// checkProblem wants a problem of this status and type, that is not cached.
func checkProblem(t *testing.T, res *http.Response, status int, kind string) problemBody {
	t.Helper()
	var p problemBody
	if err := json.NewDecoder(res.Body).Decode(&p); err != nil {
		t.Fatalf("the body of a %d is no JSON: %v", res.StatusCode, err)
	}
	if res.StatusCode != status || p.Status != status || p.Type != kind || p.Title == "" || p.Detail == "" {
		t.Errorf("got %d with %+v, want %d of type %s", res.StatusCode, p, status, kind)
	}
	if ct, cc := res.Header.Get("Content-Type"), res.Header.Get("Cache-Control"); ct != "application/problem+json" || cc != "no-store" {
		t.Errorf("%d: got Content-Type %q and Cache-Control %q, want a problem that is not stored", status, ct, cc)
	}
	return p
}
