package probes

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// aimAt is a gun for a key, with nothing behind it.
func aimAt(t *testing.T, target Target) *Gun {
	t.Helper()
	target.URL, target.Nonce = "http://127.0.0.1:1/x?y=z", "n"
	g, err := Aim(context.Background(), target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func keyOf(t *testing.T, s string) scenarios.Key {
	t.Helper()
	k, err := scenarios.ParseKey(s)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// What is varied is in the request that leaves, and the key beside it is the same.
func TestVaried(t *testing.T) {
	vary := func(p scenarios.Part, name string, values ...string) scenarios.Vary {
		return scenarios.Vary{Part: p, Name: name, Values: values}
	}
	tests := []struct {
		key  string
		vary scenarios.Vary
		line string
		head map[string]string
	}{
		{"header:X-Api-Key", scenarios.Vary{}, "GET /x?y=z", map[string]string{"X-Api-Key": "hammer-n-a"}},
		{"header:X-Api-Key", vary(scenarios.PartHeader, "X-Forwarded-For", "{ip}"), "GET /x?y=z", map[string]string{"X-Api-Key": "hammer-n-a", "X-Forwarded-For": "203.0.113.3"}},
		{"header:X-Api-Key", vary(scenarios.PartHeader, "Authorization", "{key} {n}"), "GET /x?y=z", map[string]string{"Authorization": "hammer-n-a 3"}},
		{"query:k", vary(scenarios.PartQuery, "code"), "GET /x?code=3&k=hammer-n-a&y=z", nil},
		{"header:X-Api-Key", vary(scenarios.PartCookie, "session", "s{n}"), "GET /x?y=z", map[string]string{"Cookie": "session=s3"}},
		{"header:X-Api-Key", vary(scenarios.PartPath, "", "/a", "/b", "//A/%62/"), "GET //A/%62/?y=z", nil},
		{"header:X-Api-Key", vary(scenarios.PartPath, "", "/verify/{n}?q"), "GET /verify/3?q", nil},
		{"header:X-Api-Key", vary(scenarios.PartMethod, "", "GET", "POST", "HEAD"), "HEAD /x?y=z", nil},
	}
	for _, tt := range tests {
		r, err := aimAt(t, Target{Key: keyOf(t, tt.key)}).Incoming(context.Background(), scenarios.Ask{Key: "a", Cost: 1, Vary: tt.vary, Turn: 3}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Method + " " + r.RequestURI; got != tt.line {
			t.Errorf("%v: got %s, want %s", tt.vary, got, tt.line)
		}
		for name, want := range tt.head {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%v: got %s: %s, want %s", tt.vary, name, got, want)
			}
		}
	}
}

// In a header into which proxies write, what the declared number of them wrote
// stays where it is, whatever stands in front.
func TestForwardedHeaders(t *testing.T) {
	spoof := scenarios.Vary{Part: scenarios.PartHeader, Name: "X-Forwarded-For", Values: []string{"{ip}, {key}"}}
	g := aimAt(t, Target{Key: keyOf(t, "xff{trusted=2}")})
	own := g.client(scenarios.Ask{Key: "a"})
	for turn, want := range map[int]string{1: "203.0.113.1, " + own + ", 192.0.2.1", 2: "203.0.113.2, " + own + ", 192.0.2.1"} {
		r, err := g.Incoming(context.Background(), scenarios.Ask{Key: "a", Vary: spoof, Turn: turn}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Header.Get("X-Forwarded-For"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	g = aimAt(t, Target{Key: keyOf(t, "forwarded{ipv6=64}")})
	r, err := g.Incoming(context.Background(), scenarios.Ask{Key: "a"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Header.Get("Forwarded"); len(got) < 8 || got[:14] != `for="[2001:db8` {
		t.Errorf("got %s, want an address of 2001:db8::/32 in brackets and quotation marks", got)
	}
}

// Two labels are never within one prefix, neighbours differ in its last bit alone,
// and addresses within a prefix differ where a smaller one begins.
func TestPrefixes(t *testing.T) {
	for _, bits := range []int{48, 56, 64, 72, 128} {
		seen := map[netip.Prefix]bool{}
		for n := range uint32(256) {
			p, _ := network6(n, bits).Prefix(bits)
			seen[p] = true
		}
		if len(seen) != 256 {
			t.Errorf("/%d: 256 labels have %d prefixes", bits, len(seen))
		}
		if bits == 128 {
			continue
		}
		a, b := network6(6, bits).As16(), network6(7, bits).As16()
		if i := bits - 1; a[i/8]^b[i/8] != 1<<(7-i%8) {
			t.Errorf("/%d: %v and %v are no neighbours", bits, network6(6, bits), network6(7, bits))
		}
		home := network6(6, bits)
		prefix, _ := home.Prefix(bits)
		all, halves := map[netip.Addr]bool{}, map[netip.Prefix]bool{}
		for n := 1; n <= 40; n++ {
			w := within(home, bits, n)
			if !prefix.Contains(w) {
				t.Errorf("/%d: %v is not within %v", bits, w, prefix)
			}
			half, _ := w.Prefix(bits + 1)
			all[w], halves[half] = true, true
		}
		if len(all) != 40 || len(halves) != 2 {
			t.Errorf("/%d: 40 requests have %d addresses in %d halves", bits, len(all), len(halves))
		}
	}
}

// A request that asks for several tokens in its body is an array of so many.
func TestOperations(t *testing.T) {
	for _, tt := range []struct {
		body string
		cost int64
		want string
	}{{"", 1, "[{}]"}, {"", 3, "[{},{},{}]"}, {`{"q":1}`, 2, `[{"q":1},{"q":1}]`}} {
		g := aimAt(t, Target{Key: keyOf(t, "ip"), CostBody: scenarios.CostArray, Request: scenarios.Request{Body: tt.body}})
		r, err := g.Incoming(context.Background(), scenarios.Ask{Key: "a", Cost: tt.cost}, 1)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		if string(body) != tt.want || r.Method != "POST" || r.ContentLength != int64(len(tt.want)) {
			t.Errorf("cost %d of %q: got %s %s of length %d, want POST %s", tt.cost, tt.body, r.Method, body, r.ContentLength, tt.want)
		}
	}
}

// Over the network: three connections in turn are three, each client that comes
// back does so when its kind does, and one that gave up sends nothing more.
func TestClients(t *testing.T) {
	eachPath(t, func(t *testing.T, path Path) {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		defer srv.Close()
		g, err := Aim(context.Background(), Target{URL: srv.URL, Path: path, Key: keyOf(t, "header:X-Api-Key"), Answers: scenarios.DefaultAnswers(), Nonce: "n"})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		tenth := scenarios.Rate{Count: 10, Per: time.Second}
		paced := func(name string, count int) scenarios.Phase {
			return scenarios.Phase{Name: name, At: new(time.Duration), Pace: tenth, Count: count, Keys: scenarios.Keys{Fresh: 1}}
		}
		lines, early, ignores, gone := paced("lines", 9), paced("early", 1), paced("ignores", 1), paced("gone", 10)
		lines.Vary = scenarios.Vary{Part: scenarios.PartConnection, Connections: 3}
		early.Retry, ignores.Retry, gone.Retry = scenarios.RetryEarly, scenarios.RetryIgnore, scenarios.RetryGiveUp
		ignores.Tries = 3
		s := scenarios.Scenario{Limits: []scenarios.Limit{{Burst: 1, Rate: scenarios.Rate{Count: 1, Per: time.Second}}},
			Phases: []scenarios.Phase{lines, early, ignores, gone}}
		plan, err := s.Plan(scenarios.Supply{})
		if err != nil {
			t.Fatal(err)
		}
		sink := keep{t: t}
		run, err := g.Fire(context.Background(), plan, scenarios.Slack{}, 0, &sink, &Progress{})
		if err != nil {
			t.Fatal(err)
		}
		conns := map[int32]bool{}
		sent := map[string][]int64{}
		for _, h := range sink.hits {
			if h.Key == "lines/1" {
				conns[h.Conn] = true
			}
			if h.Obeyed != 0 {
				t.Errorf("request %d on %s is said to have waited in full", h.Seq, h.Key)
			}
			sent[h.Key] = append(sent[h.Key], h.Planned)
		}
		if len(conns) != 3 {
			t.Errorf("9 requests over 3 connections in turn took %d", len(conns))
		}
		if n := len(sent["ignores/1"]); n != 4 {
			t.Errorf("who ignores three refusals sent %d requests, want 4", n)
		}
		if e := sent["early/1"]; len(e) != 2 || e[1] < int64(750*time.Millisecond) || e[1] >= int64(time.Second) {
			t.Errorf("who comes early was planned at %v, want the second a little after 750ms", e)
		}
		if n := len(sent["gone/1"]); n < 1 || n > 3 {
			t.Errorf("who gives up sent %d requests", n)
		}
		if run.Phases[3].Planned != run.Phases[3].Sent {
			t.Errorf("who gave up has %d requests planned and %d sent", run.Phases[3].Planned, run.Phases[3].Sent)
		}
	})
}
