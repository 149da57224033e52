package server

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/truth"
)

// checkReplay decides everything again on the recorded moments. It fails unless
// each key's records are in the order of its decisions, with moments that never
// go back, the moments are those that were decided on to the nanosecond, and
// each answer is the recorded one.
func checkReplay(t *testing.T, records []truth.Record, s *Server) {
	t.Helper()
	a, err := limiter.New(s.cfg.Limits[0].Algorithm)
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]limiter.State{}
	for i, rec := range records {
		if states[rec.Key] == nil {
			states[rec.Key] = a.Fresh(rec.DecidedNS)
		}
		if last := states[rec.Key].(*limiter.Bucket).Last; rec.DecidedNS < last {
			t.Fatalf("record %+v: decided after the one at %d", rec, last)
		}
		d, err := a.Decide(states[rec.Key], rec.DecidedNS, rec.Cost)
		if err != nil {
			t.Fatal(err)
		}
		if rec.Seq != int64(i+1) || rec.Admitted != d.Admitted || rec.Before != d.Before || rec.After != d.After || rec.Unit != d.Unit {
			t.Fatalf("record %+v: decided again: %+v", rec, d)
		}
		if wantStatus := map[bool]int{true: 200, false: 429}[d.Admitted]; rec.Status != wantStatus {
			t.Fatalf("record %+v: want status %d", rec, wantStatus)
		}
		if wall := s.Base().UnixNano() + rec.MonoNS; rec.WallNS != wall || rec.DecidedNS != wall || rec.FromNS != rec.MonoNS {
			t.Fatalf("record %+v: want wall %d on a clock that nobody stepped", rec, wall)
		}
		if rec.Limit != DefaultName || rec.Route != "/" || rec.Request != rec.Seq || rec.Refused == rec.Admitted {
			t.Fatalf("record %+v: want the one limit of the one route", rec)
		}
	}
}

// For every algorithm: what is asked at odd moments of several keys can be
// decided again from the truth alone, and each answer says what it says.
func TestTruthOfEveryAlgorithm(t *testing.T) {
	for _, d := range limiter.List() {
		r := newRig(t, routed(t, d.Example, Route{Answers: dialect.Settings{Fields: []string{"ratelimit"}}}))
		a, err := limiter.New(r.cfg.Limits[0].Algorithm)
		if err != nil {
			t.Fatal(err)
		}
		if _, releases := a.(limiter.Releaser); releases {
			continue // what it decides depends on when others are done
		}
		if s, ok := a.(limiter.Starter); ok {
			a = s.Start(start.UnixNano())
		}
		states := map[string]limiter.State{}
		odd := rand.New(rand.NewPCG(1, 2))
		for i := range 400 {
			r.now += time.Duration(odd.IntN(300_000_000))
			key := fmt.Sprint(odd.IntN(3))
			req := httptest.NewRequestWithContext(gone(t), "GET", "/", nil) // is not held back
			req.Header.Set("X-Api-Key", key)
			res := r.do(req)
			records, _ := r.Truth()
			rec := records[len(records)-1]
			if states[key] == nil {
				states[key] = a.Fresh(rec.DecidedNS)
			}
			again, err := a.Decide(states[key], rec.DecidedNS, 1)
			if err != nil {
				t.Fatal(err)
			}
			if rec.DecidedNS != start.UnixNano()+int64(r.now) || rec.Key != key || rec.Admitted != again.Admitted || rec.Before != again.Before || rec.After != again.After || rec.DelayNS != int64(again.Delay) {
				t.Fatalf("%s, request %d: got %+v, decided again: %+v", d.Example, i, rec, again)
			}
			if h := res.Header; h.Get("RateLimit-Remaining") != fmt.Sprint(again.Remaining) || h.Get("RateLimit-Limit") != fmt.Sprint(again.Limit) || (h.Get("Retry-After") == "") != again.Admitted || rec.Status != res.StatusCode {
				t.Fatalf("%s, request %d: got %d %v, decided again: %+v", d.Example, i, res.StatusCode, h, again)
			}
			if want := fmt.Sprint(again.RetryAfter()); !again.Admitted && res.Header.Get("Retry-After") != want {
				t.Fatalf("%s, request %d: got Retry-After %s, want %s", d.Example, i, res.Header.Get("Retry-After"), want)
			}
		}
	}
}

// gone is the context of a client that has gone away.
func gone(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// Many keys and many clients at once, at a rate that refills all the time: the
// truth agrees with the answers and with itself.
func TestTruthAgreesWithAnswers(t *testing.T) {
	before := time.Now()
	s := startServer(t, byHeader(t, "token-bucket{burst=3,rate=997/s}"))
	var mu sync.Mutex
	answers := map[string]map[int]int{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 100 {
				key := fmt.Sprint(i % 7)
				status := statusOf(s.URL(), key)
				mu.Lock()
				if answers[key] == nil {
					answers[key] = map[int]int{}
				}
				answers[key][status]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	after := time.Now()
	records, _ := s.Truth()
	if len(records) != 800 {
		t.Fatalf("got %d records, want 800", len(records))
	}
	checkReplay(t, records, s)
	truth := map[string]map[int]int{}
	for _, rec := range records {
		if truth[rec.Key] == nil {
			truth[rec.Key] = map[int]int{}
		}
		truth[rec.Key][rec.Status]++
		// The base maps the server's moments to a clock of this process.
		if at := s.Base().Add(time.Duration(rec.MonoNS)); at.Before(before) || at.After(after) {
			t.Fatalf("record %+v: decided at %v, outside of the test", rec, at)
		}
	}
	for key, want := range truth {
		if !maps.Equal(answers[key], want) {
			t.Errorf("key %s: got answers %v, truth says %v", key, answers[key], want)
		}
	}
}

// A step moves the wall clock in the truth, and not the monotonic one.
func TestStepShowsInTruth(t *testing.T) {
	s := startServer(t, byHeader(t, "token-bucket{burst=9,rate=1/h}"))
	fetch(t, "GET", s.URL(), "a", nil)
	fetch(t, "POST", s.AdminURL()+"/clock/step?by=-1h", "", nil)
	fetch(t, "GET", s.URL(), "a", nil)
	records, _ := s.Truth()
	if len(records) != 2 {
		t.Fatalf("got %d records, want 2", len(records))
	}
	mono, wall := records[1].MonoNS-records[0].MonoNS, records[1].WallNS-records[0].WallNS
	if mono < 0 || wall != mono-int64(time.Hour) {
		t.Errorf("got %d ns monotonic and %d ns wall, want an hour less", mono, wall)
	}
}

// statusOf is 0 for a request that was not answered. Unlike fetch it may be
// used outside of the test's own goroutine.
func statusOf(url, key string) int {
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		return 0
	}
	req.Header.Set("X-Api-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}
