package server

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// b = 10, r = 2/s: of 13 at once 10 pass; the next token takes 500 ms, 1 in
// whole seconds. After 3 s there are 6.
func TestVolley(t *testing.T) {
	r := newRig(t, byHeader(t, "token-bucket{burst=10,rate=2/s}"))
	for i := range 13 {
		res := r.get("alice")
		if i < 10 {
			body, _ := io.ReadAll(res.Body)
			if res.StatusCode != 200 || !strings.HasPrefix(string(body), fmt.Sprintf("ok\ndefault: %d of 10 left", 9-i)) || res.Header.Get("Retry-After") != "" {
				t.Errorf("request %d: got %d %q %v, want a plain 200", i, res.StatusCode, body, res.Header)
			}
			continue
		}
		checkProblem(t, res, 429, dialect.QuotaExceeded)
		if got := res.Header.Get("Retry-After"); got != "1" {
			t.Errorf("request %d: got Retry-After %q, want 1", i, got)
		}
	}
	if got := r.get("bob").StatusCode; got != 200 {
		t.Errorf("another client: got %d, want 200", got)
	}
	r.now = 3 * time.Second
	if got, want := r.statuses("alice", 10), (map[int]int{200: 6, 429: 4}); !maps.Equal(got, want) {
		t.Errorf("after 3 s: got %v, want %v", got, want)
	}
}

// The node limiter of a game server, b = 2, r = 2/s.
func TestTenAtOnceOnTwo(t *testing.T) {
	r := newRig(t, byHeader(t, "token-bucket{burst=2,rate=2/s}"))
	if got, want := r.statuses("a", 10), (map[int]int{200: 2, 429: 8}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := r.get("a").Header.Get("Retry-After"); got != "1" {
		t.Errorf("got Retry-After %q, want 1", got)
	}
}

// Retry-After rounds up and is never 0, however short the wait is.
func TestRetryAfterRoundsUp(t *testing.T) {
	r := newRig(t, byHeader(t, "token-bucket{burst=1,rate=1/2s}"))
	r.get("a")
	tests := []struct {
		at   time.Duration
		want string
	}{
		{0, "2"},
		{time.Nanosecond, "2"}, // 1.999999999 s
		{time.Second, "1"},
		{2*time.Second - 1, "1"}, // 1 ns
	}
	for _, tt := range tests {
		r.now = tt.at
		if res := r.get("a"); res.StatusCode != 429 || res.Header.Get("Retry-After") != tt.want {
			t.Errorf("at %v: got %d, Retry-After %q, want 429, %q", tt.at, res.StatusCode, res.Header.Get("Retry-After"), tt.want)
		}
	}
	r.now = 2 * time.Second
	if got := r.get("a").StatusCode; got != 200 {
		t.Errorf("after the wait: got %d, want 200", got)
	}
}

// What a client sends is never sent back or logged.
func TestKeysStaySecret(t *testing.T) {
	const secret = "s3cr3t-k3y"
	var log bytes.Buffer
	cfg := withCost(t, "token-bucket{burst=1,rate=1/h}")
	cfg.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for _, m := range []string{"plain", "order", "order{backend=dead}", "order{pending=0}", "order{max-body=1}"} {
		cfg.Routes = []Route{{Limits: []string{DefaultName}, Mode: parse(t, m)}}
		r := newRig(t, cfg)
		for _, body := range []string{"", secret, `"` + secret + `"`} {
			for _, cost := range []string{"", "1", secret, "99"} {
				req := request("POST", "/"+secret, secret, body)
				req.Header.Set("X-Cost", cost)
				res := r.do(req)
				var all bytes.Buffer
				if err := res.Write(&all); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(all.String(), secret) {
					t.Errorf("%s: the answer shows the secret:\n%s", m, &all)
				}
			}
		}
	}
	if strings.Contains(log.String(), secret) {
		t.Errorf("the log shows the secret:\n%s", &log)
	}
}

// withCost is a limit whose cost is in X-Cost.
func withCost(t *testing.T, limit string) Config {
	return Config{Limits: []Limit{{Name: DefaultName, Algorithm: parse(t, limit), Key: parseKey(t, "header:X-Api-Key"), CostHeader: "X-Cost"}}}
}

func TestCost(t *testing.T) {
	cfg := withCost(t, "token-bucket{burst=5,rate=1/h}")
	tests := []struct {
		cost   string
		status int
		left   int64 // tokens, after the request
	}{
		{"", 200, 4},
		{"2", 200, 2},
		{"3", 429, 2},
		{"0", 400, 2},
		{"-1", 400, 2},
		{"6", 400, 2},
		{"one", 400, 2},
		{"2", 200, 0},
	}
	r := newRig(t, cfg)
	for i, tt := range tests {
		req := request("GET", "/", "a", "")
		req.Header.Set("X-Cost", tt.cost)
		if got := r.do(req).StatusCode; got != tt.status {
			t.Errorf("request %d of cost %q: got %d, want %d", i, tt.cost, got, tt.status)
		}
		records, _ := r.Truth()
		if last := records[len(records)-1]; last.After/last.Unit != tt.left {
			t.Errorf("request %d of cost %q: got %d left, want %d", i, tt.cost, last.After/last.Unit, tt.left)
		}
	}
	// A mistake is no decision: two admitted, one refused, one admitted.
	if records, _ := r.Truth(); len(records) != 4 {
		t.Errorf("got %d decisions, want 4", len(records))
	}
	// A new key with a mistake leaves no state behind.
	req := request("GET", "/", "b", "")
	req.Header.Set("X-Cost", "6")
	r.do(req)
	if got := r.nodes[0].life().backings[0].store.Len(); got != 1 {
		t.Errorf("got %d keys, want 1", got)
	}
}

// The Date is that of the server's own wall clock.
func TestDate(t *testing.T) {
	r := newRig(t, byHeader(t, "token-bucket{burst=1,rate=1/s}"))
	r.now = 3 * time.Second
	if err := r.nodes[0].clock.Step(-10 * time.Second); err != nil {
		t.Fatal(err)
	}
	want := start.Add(-7 * time.Second).Format(http.TimeFormat)
	for _, key := range []string{"a", "a", ""} { // 200, 429, 400
		if got := r.get(key).Header.Get("Date"); got != want {
			t.Errorf("key %q: got Date %q, want %q", key, got, want)
		}
	}
}

// Dates and epochs are those of the server's own wall clock, at the moment of the
// decision: 12:00:00.5, and 10 s less than that.
func TestMomentsFollowTheClock(t *testing.T) {
	r := newRig(t, routed(t, "token-bucket{burst=1,rate=1/3s}", Route{Answers: dialect.Settings{RetryAfter: "date", Fields: []string{"x-ratelimit-epoch-ms"}}}))
	r.now = 500 * time.Millisecond
	if err := r.nodes[0].clock.Step(-10 * time.Second); err != nil {
		t.Fatal(err)
	}
	r.get("a")
	h := r.get("a").Header
	full := start.Add(500*time.Millisecond - 10*time.Second + 3*time.Second)
	if got, want := h.Get("Retry-After"), full.Add(500*time.Millisecond).Format(http.TimeFormat); got != want {
		t.Errorf("got Retry-After %s, want %s", got, want)
	}
	if got, want := h.Get("X-RateLimit-Reset"), fmt.Sprint(full.UnixMilli()); got != want {
		t.Errorf("got X-RateLimit-Reset %s, want %s", got, want)
	}
}

// The defects as a client sees them, each beside the right server.
func TestDefectsOverHTTP(t *testing.T) {
	tests := []struct {
		defects    []string
		admitted   int    // of a volley of 30 on a fresh key
		retryAfter string // of the last
	}{
		{nil, 10, "1"},
		{[]string{"off-by-one{delta=+1}"}, 11, "1"},
		{[]string{"off-by-one{delta=-1}"}, 9, "1"},
		{[]string{"starts-empty"}, 0, "1"},
		{[]string{"ra{form=floor}"}, 10, "0"},
		{[]string{"ra{form=zero}"}, 10, "0"},
		{[]string{"ra{form=window}"}, 10, "2"},
	}
	for _, tt := range tests {
		r := newRig(t, byHeader(t, "token-bucket{burst=10,rate=5/s}", tt.defects...))
		if got := r.statuses("a", 30); got[200] != tt.admitted || got[429] != 30-tt.admitted {
			t.Errorf("%v: got %v, want %d admitted of 30", tt.defects, got, tt.admitted)
		}
		if got := r.get("a").Header.Get("Retry-After"); got != tt.retryAfter {
			t.Errorf("%v: got Retry-After %q, want %q", tt.defects, got, tt.retryAfter)
		}
	}
}

// On a wall clock that goes back 10 s every 30 s, six clients that ask once a
// second, half of what they may, are all refused at 30 s, and the Date jumps.
func TestWallClockOverHTTP(t *testing.T) {
	tests := []struct {
		defects []string
		refused int // of 6 x 40
		date    time.Duration
	}{
		{nil, 0, 30 * time.Second},
		{[]string{"wall-clock{step=-10s,every=30s}"}, 6 * 9, 20 * time.Second}, // from 30 s to 38 s
	}
	for _, tt := range tests {
		r := newRig(t, byHeader(t, "token-bucket{burst=2,rate=2/s}", tt.defects...))
		refused := 0
		for s := range time.Duration(40) {
			r.now = s * time.Second
			for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
				res := r.get(key)
				if res.StatusCode == 429 {
					refused++
				}
				if want := start.Add(tt.date).Format(http.TimeFormat); s == 30 && res.Header.Get("Date") != want {
					t.Errorf("%v at 30 s: got Date %q, want %q", tt.defects, res.Header.Get("Date"), want)
				}
			}
		}
		if refused != tt.refused {
			t.Errorf("%v: got %d refusals, want %d", tt.defects, refused, tt.refused)
		}
	}
}

func TestPlainBodies(t *testing.T) {
	r := newRig(t, byHeader(t, "token-bucket{burst=2,rate=1/h}"))
	res := r.do(request("POST", "/", "a", strings.Repeat("x", plainMaxBody+1)))
	checkProblem(t, res, 413, dialect.NoSpecialType)
	if got, want := r.statuses("a", 3), (map[int]int{200: 2, 429: 1}); !maps.Equal(got, want) {
		t.Errorf("after a 413: got %v, want %v", got, want)
	}
	if got := r.do(request("POST", "/", "b", strings.Repeat("x", plainMaxBody))).StatusCode; got != 200 {
		t.Errorf("a body of exactly the limit: got %d, want 200", got)
	}
}

func TestBuildErrors(t *testing.T) {
	tests := []struct {
		name string
		cfg  Config
		says string
	}{
		{"limit", Config{Limit: mode.Mode{Name: "token-buckets"}}, "did you mean token-bucket?"},
		{"defect", Config{Defects: []mode.Mode{{Name: "wallclock"}}}, "did you mean wall-clock?"},
		{"mode", Config{Routes: []Route{{Mode: mode.Mode{Name: "ordered"}}}}, "did you mean order?"},
		{"mode settings", Config{Routes: []Route{{Mode: parse(t, "order{pending=-1,work=2h,max-body=2000000}")}}}, "pending: give 0 to"},
		{"plain takes none", Config{Routes: []Route{{Mode: parse(t, "plain{x}")}}}, "no settings are taken"},
	}
	for _, tt := range tests {
		if _, err := build(tt.cfg, start, nil); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %v, want an error that says %q", tt.name, err, tt.says)
		}
	}
}

// The zero Config is a right server with one budget for all.
func TestZeroConfig(t *testing.T) {
	r := newRig(t, Config{})
	p := r.nodes[0].life().limits[0].promise()
	if p.Limit.Burst != 10 || p.Limit.Rate.PerSecond() != 5 || p.Key.String() != "none" {
		t.Errorf("promise: got %v, want 10 tokens and 5/s for all", p)
	}
	if got, want := r.statuses("", 13), (map[int]int{200: 10, 429: 3}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestModeExamplesBuild(t *testing.T) {
	for _, d := range Modes() {
		m := parse(t, d.Example)
		if _, err := newFront(m); err != nil || m.Name != d.Name {
			t.Errorf("%s: its example %s gives %v", d.Name, d.Example, err)
		}
	}
}
