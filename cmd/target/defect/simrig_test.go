package defect_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/cmd/target/truth"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// sim is a server with all its HTTP, in virtual time.
type sim struct {
	*server.Sim
	t *testing.T
}

// site is a server that a defect is seen on. The zero site has the default limit,
// told apart by X-Api-Key.
type site struct {
	limit, beside, key string
	defects            []string // of all limits
	costHeader         string
	costBody           string
	mode               string
	store              string
	answers            dialect.Settings
}

func parse(t *testing.T, s string) mode.Mode {
	t.Helper()
	m, err := mode.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func simulate(t *testing.T, s site) *sim {
	t.Helper()
	started, err := build(t, s)
	if err != nil {
		t.Fatal(err)
	}
	return started
}

// build gives the error of defects that cannot be had.
func build(t *testing.T, s site) (*sim, error) {
	t.Helper()
	s.limit, s.key = orElse(s.limit, server.DefaultLimit), orElse(s.key, "header:X-Api-Key")
	s.mode, s.store = orElse(s.mode, "plain"), orElse(s.store, "memory")
	k, err := key.Parse(s.key)
	if err != nil {
		t.Fatal(err)
	}
	cfg := server.Config{Seed: 1}
	route := server.Route{Mode: parse(t, s.mode), Answers: s.answers}
	for _, text := range []string{s.limit, s.beside} {
		if text == "" {
			continue
		}
		l := server.Limit{Name: "limit-" + strconv.Itoa(len(cfg.Limits)+1), Algorithm: parse(t, text), Key: k, CostHeader: s.costHeader, CostBody: s.costBody, Store: parse(t, s.store)}
		for _, d := range s.defects {
			l.Defects = append(l.Defects, parse(t, d))
		}
		cfg.Limits = append(cfg.Limits, l)
		route.Limits = append(route.Limits, l.Name)
	}
	cfg.Routes = []server.Route{route}
	started, err := server.Simulate(cfg, start)
	return &sim{started, t}, err
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// request is a GET, with header fields in pairs of name and value.
func request(target string, fields ...string) *http.Request {
	return post(target, "", fields...)
}

// post is a request with a body, if that is not empty.
func post(target, body string, fields ...string) *http.Request {
	r := httptest.NewRequest("POST", target, strings.NewReader(body))
	if body == "" {
		r = httptest.NewRequest("GET", target, nil)
	}
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	return r
}

// by is a request of a client.
func by(client string) *http.Request { return request("/", "X-Api-Key", client) }

// over is a request that comes over a connection.
func over(connection int, client string) *http.Request {
	r := by(client)
	r.RemoteAddr = "192.0.2.1:" + strconv.Itoa(10_000+connection)
	return r
}

// ask gives the answer to a request that is not held back.
func (s *sim) ask(at time.Duration, r *http.Request) (res *http.Response) {
	s.t.Helper()
	s.Arrive(at, r, func(_ time.Duration, w *http.Response) { res = w })
	if res == nil {
		s.Advance(at)
	}
	if res == nil {
		s.t.Fatalf("a request at %v has no answer yet", at)
	}
	return res
}

// count asks n times at one moment, one after the other, and gives how many were
// admitted.
func (s *sim) count(at time.Duration, n int, make func(i int) *http.Request) (admitted int) {
	s.t.Helper()
	for i := range n {
		if s.ask(at, make(i)).StatusCode == http.StatusOK {
			admitted++
		}
	}
	return admitted
}

// volley is n requests of one client at one moment, of which none waits for
// another's answer; it gives how many were admitted, a minute later.
func (s *sim) volley(at time.Duration, client string, n int) (admitted int) {
	s.t.Helper()
	for range n {
		s.Arrive(at, by(client), func(_ time.Duration, w *http.Response) {
			if w.StatusCode == http.StatusOK {
				admitted++
			}
		})
	}
	s.Advance(at + time.Minute)
	return admitted
}

// same makes the same request of one client again and again.
func same(client string) func(int) *http.Request {
	return func(int) *http.Request { return by(client) }
}

// header is a field of an answer as a number.
func (s *sim) header(res *http.Response, name string) int64 {
	s.t.Helper()
	n, err := strconv.ParseInt(res.Header.Get(name), 10, 64)
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	return n
}

// last is the truth of the latest decision.
func (s *sim) last() truth.Record {
	records, _ := s.Truth()
	return records[len(records)-1]
}
