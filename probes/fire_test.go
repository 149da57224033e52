package probes

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// keep is a sink that keeps everything, and checks that each block's Low is true.
type keep struct {
	t    *testing.T
	hits []results.Hit
	mark []results.Mark
	low  int64
	fail error
}

func (k *keep) Block(b results.Block) error {
	if k.fail != nil {
		return k.fail
	}
	for _, h := range b.Hits {
		if h.Sent < k.low {
			k.t.Errorf("request %d was sent at %d, after a block had promised nothing before %d", h.Seq, h.Sent, k.low)
		}
	}
	for _, m := range b.Marks {
		if m.At < k.low {
			k.t.Errorf("mark %+v began before %d, which a block had promised", m, k.low)
		}
	}
	if b.Low < k.low {
		k.t.Errorf("Low went back from %d to %d", k.low, b.Low)
	}
	k.low = b.Low
	k.hits = append(k.hits, b.Hits...)
	k.mark = append(k.mark, b.Marks...)
	return nil
}

// eachPath runs a test on every path that requests can take.
func eachPath(t *testing.T, f func(t *testing.T, path Path)) {
	for _, path := range []Path{PathFast, PathPortable, PathFull} {
		t.Run(path.String(), func(t *testing.T) { f(t, path) })
	}
}

func aim(t *testing.T, url string, path Path) *Gun {
	t.Helper()
	g, err := Aim(t.Context(), Target{URL: url, Path: path, Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"},
		Answers: scenarios.DefaultAnswers(), Timeout: 2 * time.Second, Nonce: "n"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func layOut(t *testing.T, phases ...scenarios.Phase) scenarios.Plan {
	t.Helper()
	s := scenarios.Scenario{Limits: []scenarios.Limit{{Burst: 10, Rate: scenarios.Rate{Count: 5, Per: time.Second}}}, Phases: phases}
	p, err := s.Plan(scenarios.Supply{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func pace(name string, count int, rate int64) scenarios.Phase {
	return scenarios.Phase{Name: name, Pace: scenarios.Rate{Count: rate, Per: time.Second}, Count: count, Keys: scenarios.Keys{Fresh: 1}}
}

func volley(name string, size int) scenarios.Phase {
	return scenarios.Phase{Name: name, Rest: 200 * time.Millisecond, Volley: size, Keys: scenarios.Keys{Fresh: 1}}
}

// account checks that every planned shot is accounted for.
func account(t *testing.T, r results.Run, k *keep) {
	t.Helper()
	if r.Planned != r.Sent+r.Missed+r.InFlight {
		t.Errorf("planned %d is not sent %d + missed %d + in flight %d", r.Planned, r.Sent, r.Missed, r.InFlight)
	}
	if int64(len(k.hits)) != r.Sent+r.InFlight {
		t.Errorf("got %d requests on record, want %d", len(k.hits), r.Sent+r.InFlight)
	}
	missed := int64(0)
	for _, m := range k.mark {
		if m.Kind == results.MarkMiss {
			missed++
		}
	}
	if missed != r.Missed {
		t.Errorf("got %d missed shots on record, want %d", missed, r.Missed)
	}
}

func TestFireRecordsEveryShot(t *testing.T) {
	eachPath(t, func(t *testing.T, path Path) {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.Header.Get("X-Api-Key"), "volley") {
				w.Header().Set("Retry-After", "7")
				w.Header().Set("X-RateLimit-Remaining", "0")
				w.WriteHeader(429)
			}
		}))
		defer s.Close()
		k := &keep{t: t}
		plan := layOut(t, volley("volley", 100), pace("walk", 50, 50))
		run, err := aim(t, s.URL, path).Fire(t.Context(), plan, scenarios.Slack{}, 0, k, &Progress{})
		if err != nil {
			t.Fatal(err)
		}
		account(t, run, k)
		if run.Sent < 120 {
			t.Errorf("got %d of 150 sent", run.Sent)
		}
		limited := 0
		for _, h := range k.hits {
			if h.Sent < h.Planned || h.First < h.Sent || h.Done < h.First || h.Conn == 0 || h.Peer == "" {
				t.Errorf("request %d: planned %d, sent %d, first %d, done %d, conn %d, peer %q", h.Seq, h.Planned, h.Sent, h.First, h.Done, h.Conn, h.Peer)
			}
			if h.Outcome == results.Limited {
				limited++
				if h.RetryAfter != "7" || h.Headers != "x-ratelimit-remaining: 0" || h.Status != 429 || h.Date == "" {
					t.Errorf("request %d: got %+v", h.Seq, h)
				}
			}
		}
		if limited < 80 {
			t.Errorf("got %d limited of 100", limited)
		}
	})
}

// An informational answer comes before the decision, and is not the answer.
func TestInformationalAnswerIsNotTheAnswer(t *testing.T) {
	eachPath(t, func(t *testing.T, path Path) {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			time.Sleep(50 * time.Millisecond)
		}))
		defer s.Close()
		k := &keep{t: t}
		if _, err := aim(t, s.URL, path).Fire(t.Context(), layOut(t, pace("hinted", 3, 10)), scenarios.Slack{}, 0, k, &Progress{}); err != nil {
			t.Fatal(err)
		}
		for _, h := range k.hits {
			if h.Outcome != results.Admitted || h.First-h.Sent < int64(50*time.Millisecond) {
				t.Errorf("request %d: answered after %v by %d, want 50ms at least", h.Seq, time.Duration(h.First-h.Sent), h.Status)
			}
		}
	})
}

// Over HTTP/2 many requests share a connection.
func TestFireOverHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			w.WriteHeader(http.StatusHTTPVersionNotSupported)
		}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	g, err := Aim(t.Context(), Target{URL: s.URL, Answers: scenarios.DefaultAnswers(), Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if p, err := g.Preflight(t.Context(), "preflight", 2); err != nil || p.Proto != "HTTP/2.0" {
		t.Fatalf("got %+v, %v", p, err)
	}
	k := &keep{t: t}
	run, err := g.Fire(t.Context(), layOut(t, volley("volley", 50)), scenarios.Slack{}, 0, k, &Progress{})
	if err != nil {
		t.Fatal(err)
	}
	account(t, run, k)
	conns := map[int32]bool{}
	for _, h := range k.hits {
		conns[h.Conn] = true
		if h.Outcome != results.Admitted || h.First < h.Sent {
			t.Errorf("got %+v", h)
		}
	}
	if len(k.hits) < 45 || len(conns) > 3 {
		t.Errorf("got %d requests on %d connections, want 50 on one or two", len(k.hits), len(conns))
	}
}

// net/http sends a GET again, without a word, when a kept connection breaks. The fast
// path does not. What became of the request nobody knows either way.
func TestLostRequestIsUnknown(t *testing.T) {
	eachPath(t, func(t *testing.T, path Path) {
		var seen atomic.Int32
		s := listenRaw(t, func(c net.Conn, r *bufio.Reader) {
			defer c.Close()
			for n := 0; ; n++ {
				req, err := http.ReadRequest(r)
				if err != nil {
					return
				}
				seen.Add(1)
				if n == 1 && req.Header.Get("X-Api-Key") == "hammer-n-second/1" {
					return // it was counted, and is cut off without an answer
				}
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			}
		})
		k := &keep{t: t}
		plan := layOut(t, pace("first", 1, 1), scenarios.Phase{Name: "second", Rest: 50 * time.Millisecond,
			Pace: scenarios.Rate{Count: 1, Per: time.Second}, Count: 1, Keys: scenarios.Keys{Fresh: 1}})
		if _, err := aim(t, s, path).Fire(t.Context(), plan, scenarios.Slack{}, 0, k, &Progress{}); err != nil {
			t.Fatal(err)
		}
		last := k.hits[len(k.hits)-1]
		sent := int64(1)
		if path == PathFull {
			sent = 2
		}
		if int64(seen.Load()) != 1+sent || last.Outcome != results.Unknown || last.Cost != sent {
			t.Errorf("the server saw %d requests; got outcome %v, cost %d, want %d, unknown, %d", seen.Load(), last.Outcome, last.Cost, 1+sent, sent)
		}
	})
}

// listenRaw serves each connection with f.
func listenRaw(t *testing.T, f func(net.Conn, *bufio.Reader)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f(c, bufio.NewReader(c))
		}
	}()
	return "http://" + l.Addr().String()
}

// What was due while hammer could not run is missed, and never sent in a bunch.
func TestLateShotsAreMissedAndNotBunched(t *testing.T) {
	eachPath(t, func(t *testing.T, path Path) {
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		defer s.Close()
		g := aim(t, s.URL, path)
		plan := layOut(t, pace("walk", 100, 100))
		k := &keep{t: t}
		r := &run{gun: g, plan: plan, progress: &Progress{}, ctx: t.Context(), requests: t.Context()}
		if err := r.assign(); err != nil {
			t.Fatal(err)
		}
		r.clk = clock{time.Now().Add(-500 * time.Millisecond)} // half of them are overdue
		if err := r.take(); err != nil {
			t.Fatal(err)
		}
		defer r.leave()
		r.rec = newRecorder(k, r.clk, func(error) {})
		r.rec.vouch(0)
		r.pace()
		r.flying.Wait()
		if err := r.rec.close(); err != nil {
			t.Fatal(err)
		}
		got := r.account("")
		account(t, got, k)
		// 50 were overdue by more than the time between two, but for the last one or two.
		if got.Missed < 45 {
			t.Errorf("got %d missed, want about 50", got.Missed)
		}
		for _, h := range k.hits {
			if h.Planned < int64(450*time.Millisecond) {
				t.Errorf("request %d was due at %v and was sent at %v", h.Seq, time.Duration(h.Planned), time.Duration(h.Sent))
			}
		}
	})
}

func TestInterruptedRunIsAccountedFor(t *testing.T) {
	eachPath(t, func(t *testing.T, path Path) {
		hang := make(chan struct{})
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.Header.Get("X-Api-Key"), "stuck") {
				<-hang
			}
		}))
		defer s.Close()
		defer close(hang)
		g := aim(t, s.URL, path)
		k := &keep{t: t}
		ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
		defer cancel()
		plan := layOut(t, pace("stuck", 3, 20), pace("walk", 1000, 100), volley("later", 20))
		run, err := g.Fire(ctx, plan, scenarios.Slack{}, 0, k, &Progress{})
		if err != nil {
			t.Fatal(err)
		}
		account(t, run, k)
		// Of 10 s came 0.4 s due: what did not is neither planned nor missed.
		if due := int64(1000 * time.Duration(run.LastedNS) / (10 * time.Second)); run.Stopped == "" || run.Planned < 23 || run.Planned > due+23 || run.Planned > 900 {
			t.Errorf("got %+v", run)
		}
		unknown := 0
		for _, h := range k.hits {
			if h.Outcome == results.Unknown && !h.Answered() {
				unknown++
			}
		}
		// They are given up after their own two seconds; a busy machine misses some.
		if stuck := run.Phases[0].Sent; unknown == 0 || int64(unknown) != stuck {
			t.Errorf("got %d requests without an answer, want %d", unknown, stuck)
		}
	})
}

func TestFailingSinkStopsTheRun(t *testing.T) {
	eachPath(t, func(t *testing.T, path Path) {
		s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		defer s.Close()
		broken := errors.New("no space left")
		k := &keep{t: t, fail: broken}
		run, err := aim(t, s.URL, path).Fire(t.Context(), layOut(t, pace("walk", 100_000, 100)), scenarios.Slack{}, 0, k, &Progress{})
		if !errors.Is(err, broken) || run.Stopped != broken.Error() || run.Planned != run.Sent+run.Missed+run.InFlight || run.Planned > 100_000/10 {
			t.Errorf("got %v and %+v", err, run)
		}
	})
}

// A refused request that obeys comes back once, after the wait it was told.
func TestObeyWaitsAsTold(t *testing.T) {
	eachPath(t, func(t *testing.T, path Path) {
		var mu sync.Mutex
		seen := map[string]int{}
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			key := r.Header.Get("X-Api-Key")
			mu.Lock()
			seen[key]++
			n := seen[key]
			mu.Unlock()
			switch {
			case strings.Contains(key, "patient") && n == 1:
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(429)
			case strings.Contains(key, "endless"):
				w.Header().Set("Retry-After", "3600")
				w.WriteHeader(429)
			case strings.Contains(key, "silent"):
				w.WriteHeader(429)
			}
		}))
		defer s.Close()
		var phases []scenarios.Phase
		for _, name := range []string{"patient", "endless", "silent", "lucky"} {
			p := pace(name, 1, 1)
			p.Retry, p.At = scenarios.RetryObey, new(time.Duration)
			phases = append(phases, p)
		}
		slack := scenarios.Slack{Quantum: 3 * time.Millisecond}
		k := &keep{t: t}
		run, err := aim(t, s.URL, path).Fire(t.Context(), layOut(t, phases...), slack, 0, k, &Progress{})
		if err != nil {
			t.Fatal(err)
		}
		account(t, run, k)
		if run.Planned != 5 || len(k.hits) != 5 {
			t.Fatalf("planned %d, recorded %d, want one follow-up behind four shots", run.Planned, len(k.hits))
		}
		again := k.hits[4]
		var first results.Hit
		for _, h := range k.hits {
			if h.Seq == again.Obeyed {
				first = h
			}
		}
		if first.Key != "patient/1" || again.Key != first.Key || again.Seq != 5 || again.Outcome != results.Admitted {
			t.Errorf("got %+v after %+v", again, first)
		}
		if waited := time.Duration(again.Sent - first.First); waited < time.Second+3*time.Millisecond {
			t.Errorf("it came back after %v, told 1s and 3ms of slack", waited)
		}
	})
}
