package dialect

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/scenarios"
)

func bucket(t testing.TB, name string, burst int64, rate string) Policy {
	t.Helper()
	return Policy{Name: name, Promise: scenarios.Limit{Contract: scenarios.TokenBucket, Burst: burst, Rate: parseRate(t, rate)}}
}

func window60(t testing.TB, name, rate string) Policy {
	t.Helper()
	return Policy{Name: name, Promise: scenarios.Limit{Contract: scenarios.FixedWindow, Rate: parseRate(t, rate)}}
}

func parseRate(t testing.TB, s string) scenarios.Rate {
	t.Helper()
	r, err := scenarios.ParseRate(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func voice(t testing.TB, s Settings, policies ...Policy) *Voice {
	t.Helper()
	v, err := New(s, policies)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// noon is a whole second.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// speak is the header of an answer to the given decisions at noon and a quarter.
func speak(v *Voice, decisions ...limiter.Decision) http.Header {
	s := Standing{Decisions: decisions, Wall: noon.Add(250 * time.Millisecond).UnixNano()}
	w := httptest.NewRecorder()
	v.Policies(w.Header())
	v.Standing(w.Header(), s)
	a := OK()
	for _, d := range decisions {
		if !d.Admitted {
			a = v.Refusal(decisions)
			v.RetryAfter(w.Header(), s)
			break
		}
	}
	v.Write(w, a, s.Wall)
	return w.Result().Header
}

func yes(left, limit int64, reset time.Duration) limiter.Decision {
	return limiter.Decision{Admitted: true, Remaining: left, Limit: limit, Reset: reset}
}

func no(wait time.Duration, limit int64, reset time.Duration) limiter.Decision {
	return limiter.Decision{Limit: limit, Wait: wait, Reset: reset}
}

// Every set of fields, on an admission, a refusal, and with two limits of which
// the second refuses. The moment is 12:00:00.25, which is 1772366400.25 s.
func TestFamilies(t *testing.T) {
	one := []Policy{bucket(t, "default", 10, "5/s")}
	two := []Policy{bucket(t, "per-key", 10, "5/s"), window60(t, "everybody", "100/60s")}
	ms := time.Millisecond
	tests := []struct {
		name      string
		field     string
		policies  []Policy
		decisions []limiter.Decision
		want      map[string]string // empty: the field is not there
	}{
		{"admitted", "draft", one, []limiter.Decision{yes(7, 10, 600*ms)},
			map[string]string{"RateLimit-Policy": `"default";q=10;w=2`, "RateLimit": `"default";r=7`, "Retry-After": ""}},
		{"refused", "draft", one, []limiter.Decision{no(150*ms, 10, 1950*ms)},
			map[string]string{"RateLimit": `"default";r=0;t=1`, "Retry-After": "1"}},
		{"the second refuses", "draft", two, []limiter.Decision{yes(7, 10, 600*ms), no(30_001*ms, 100, 30_001*ms)},
			map[string]string{"RateLimit-Policy": `"per-key";q=10;w=2, "everybody";q=100;w=60`, "RateLimit": `"per-key";r=7, "everybody";r=0;t=31`, "Retry-After": "31"}},
		{"a wait that no clock tells", "draft", one, []limiter.Decision{no(limiter.Unknown, 10, limiter.Unknown)},
			map[string]string{"RateLimit": `"default";r=0`, "Retry-After": "1"}},

		{"admitted", "draft-07", one, []limiter.Decision{yes(7, 10, 600*ms)},
			map[string]string{"RateLimit-Policy": "10;w=2", "RateLimit": "limit=10, remaining=7, reset=1"}},
		{"refused", "draft-07", one, []limiter.Decision{no(150*ms, 10, 1950*ms)},
			map[string]string{"RateLimit": "limit=10, remaining=0, reset=2"}},
		{"the second refuses", "draft-07", two, []limiter.Decision{yes(7, 10, 600*ms), no(30_001*ms, 100, 30_001*ms)},
			map[string]string{"RateLimit-Policy": "10;w=2, 100;w=60", "RateLimit": "limit=100, remaining=0, reset=31"}},
		{"a reset that no clock tells", "draft-07", one, []limiter.Decision{no(limiter.Unknown, 10, limiter.Unknown)},
			map[string]string{"RateLimit": "limit=10, remaining=0"}},

		{"admitted", "ratelimit", one, []limiter.Decision{yes(7, 10, 600*ms)},
			map[string]string{"RateLimit-Limit": "10", "RateLimit-Remaining": "7", "RateLimit-Reset": "1", "RateLimit": "", "RateLimit-Policy": ""}},
		{"both admit: the one with less left", "ratelimit", two, []limiter.Decision{yes(7, 10, 600*ms), yes(3, 100, 45*time.Second)},
			map[string]string{"RateLimit-Limit": "100", "RateLimit-Remaining": "3", "RateLimit-Reset": "45"}},
		{"unused", "ratelimit", one, []limiter.Decision{yes(10, 10, 0)},
			map[string]string{"RateLimit-Remaining": "10", "RateLimit-Reset": "0"}},
		{"a large number", "ratelimit", one, []limiter.Decision{yes(123_456_789, 1_000_000_000, time.Hour)},
			map[string]string{"RateLimit-Limit": "1000000000", "RateLimit-Remaining": "123456789", "RateLimit-Reset": "3600"}},

		{"refused", "x-ratelimit", one, []limiter.Decision{no(150*ms, 10, 1950*ms)},
			map[string]string{"X-RateLimit-Limit": "10", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "2"}},
		// 0.25 s + 1.95 s = 2.2 s after noon.
		{"refused", "x-ratelimit-epoch", one, []limiter.Decision{no(150*ms, 10, 1950*ms)},
			map[string]string{"X-RateLimit-Reset": "1772366403"}},
		{"refused", "x-ratelimit-epoch-ms", one, []limiter.Decision{no(150*ms, 10, 1950*ms+1)},
			map[string]string{"X-RateLimit-Reset": "1772366402201"}},
		{"a reset that no clock tells", "x-ratelimit-epoch", one, []limiter.Decision{no(limiter.Unknown, 10, limiter.Unknown)},
			map[string]string{"X-RateLimit-Limit": "10", "X-RateLimit-Reset": ""}},
	}
	for _, tt := range tests {
		h := speak(voice(t, Settings{Fields: []string{tt.field}}, tt.policies...), tt.decisions...)
		for name, want := range tt.want {
			if got := h.Get(name); got != want {
				t.Errorf("%s, %s: got %s %q, want %q", tt.field, tt.name, name, got, want)
			}
		}
	}
}

// What is written as structured fields can be read as such, also the name of a
// limit that needs care.
func TestDraftIsStructured(t *testing.T) {
	v := voice(t, Settings{Fields: []string{"draft"}}, bucket(t, `a "b" \ c`, 10, "5/s"), bucket(t, "other", 3, "1/s"))
	h := speak(v, yes(7, 10, 0), no(time.Second, 3, 0))
	for _, field := range []string{"RateLimit", "RateLimit-Policy"} {
		list, err := httpsfv.UnmarshalList(h.Values(field))
		if err != nil || len(list) != 2 {
			t.Fatalf("%s %q: got %d items, %v", field, h.Get(field), len(list), err)
		}
		if name := list[0].(httpsfv.Item).Value; name != `a "b" \ c` {
			t.Errorf("%s: got name %q", field, name)
		}
	}
	dict, err := httpsfv.UnmarshalDictionary(speak(voice(t, Settings{Fields: []string{"draft-07"}}, bucket(t, "a", 10, "5/s")), yes(7, 10, 0)).Values("RateLimit"))
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := dict.Get("remaining"); left.(httpsfv.Item).Value != int64(7) {
		t.Errorf("draft-07: got %v left, want 7", left)
	}
	// A name that cannot be written is an error, and no broken header.
	if _, err := New(Settings{Fields: []string{"draft"}}, []Policy{bucket(t, "ä", 1, "1/s")}); err == nil {
		t.Errorf("a name that is not ASCII: got no error")
	}
}

func TestPolicy(t *testing.T) {
	concurrent := Policy{Name: "default", Promise: scenarios.Limit{Contract: scenarios.Concurrency, Burst: 4}}
	tests := []struct {
		policy           Policy
		draft, draftOf07 string
	}{
		{bucket(t, "default", 10, "5/s"), `"default";q=10;w=2`, "10;w=2"},
		{bucket(t, "default", 10, "1/s"), `"default";q=10;w=10`, "10;w=10"},
		{bucket(t, "default", 100, "100/m"), `"default";q=100;w=60`, "100;w=60"},
		{bucket(t, "default", 5, "100/m"), `"default";q=5;w=3`, "5;w=3"},
		// 3 tokens at 2/s take 1.5 s, 10 at 3/s 3.33 s: no whole w gives the rate.
		{bucket(t, "default", 3, "2/s"), `"default";q=3`, ""},
		{bucket(t, "default", 10, "3/s"), `"default";q=10`, ""},
		// 1 at 7/7.000000001s takes 1.000000000143 s.
		{bucket(t, "default", 1, "7/7000000001ns"), `"default";q=1`, ""},
		{window60(t, "default", "100/60s"), `"default";q=100;w=60`, "100;w=60"},
		{window60(t, "default", "10/500ms"), `"default";q=10`, ""},
		{concurrent, `"default";q=4;qu="concurrent-requests"`, ""},
	}
	for _, tt := range tests {
		for name, want := range map[string]string{"draft": tt.draft, "draft-07": tt.draftOf07} {
			if got := speak(voice(t, Settings{Fields: []string{name}}, tt.policy), yes(1, 1, 0)).Get("RateLimit-Policy"); got != want {
				t.Errorf("%s, %v: got %s, want %s", name, tt.policy.Promise, got, want)
			}
		}
	}
}

// Fields that say different things of themselves go together, those of one name
// do not.
func TestSettings(t *testing.T) {
	ok := Settings{Status: 503, RetryAfter: "date", Fields: []string{"draft", "ratelimit", "x-ratelimit-epoch"}}
	h := speak(voice(t, ok, bucket(t, "default", 10, "5/s")), yes(7, 10, 0))
	for _, name := range []string{"RateLimit", "RateLimit-Limit", "X-RateLimit-Limit"} {
		if h.Get(name) == "" {
			t.Errorf("%v: there is no %s", ok.Fields, name)
		}
	}
	tests := []struct {
		s    Settings
		says string
	}{
		{Settings{Status: 200}, "a refusal is 400 to 599"},
		{Settings{Status: 600}, "a refusal is 400 to 599"},
		{Settings{RetryAfter: "second"}, "did you mean seconds?"},
		{Settings{Fields: []string{"draft", "draft-07"}}, "choose one"},
		{Settings{Fields: []string{"draft", "draft"}}, "choose one"},
		{Settings{Fields: []string{"x-ratelimit", "x-ratelimit-epoch"}}, "choose one"},
		{Settings{Fields: []string{"x-rate-limit"}}, "did you mean x-ratelimit?"},
	}
	for _, tt := range tests {
		if _, err := New(tt.s, nil); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: got %v, want an error that says %q", tt.s, err, tt.says)
		}
	}
	// All mistakes at once.
	err := Settings{Status: 1, RetryAfter: "x", Fields: []string{"y"}}.Check()
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("three mistakes: got %v", err)
	}
	if _, err := New(Settings{}, make([]Policy, MaxPolicies+1)); err == nil {
		t.Errorf("too many limits: got no error")
	}
}

func TestExamplesAreSettings(t *testing.T) {
	for _, d := range Families() {
		if err := (Settings{Fields: []string{d.Example}}).Check(); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
	for _, d := range RetryAfters() {
		if err := (Settings{RetryAfter: d.Example}).Check(); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
}
