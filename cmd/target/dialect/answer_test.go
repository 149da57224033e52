package dialect

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Retry-After is never early: seconds and dates are rounded up. The decision is
// made at 12:00:00.25.
func TestRetryAfter(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		wait          time.Duration
		seconds, date string
	}{
		{1, "1", "12:00:01"},
		{750 * ms, "1", "12:00:01"}, // to the very second
		{750*ms + 1, "1", "12:00:02"},
		{time.Second, "1", "12:00:02"},
		{time.Second + 1, "2", "12:00:02"},
		{2 * time.Hour, "7200", "14:00:01"},
		{limiter.Unknown, "1", "12:00:02"}, // a second is a polite guess
	}
	for _, tt := range tests {
		for form, want := range map[string]string{"": tt.seconds, "seconds": tt.seconds, "date": "Sun, 01 Mar 2026 " + tt.date + " GMT", "absent": ""} {
			h := speak(voice(t, Settings{RetryAfter: form}, bucket(t, "default", 1, "1/s")), no(tt.wait, 1, 0))
			if got := h.Get("Retry-After"); got != want {
				t.Errorf("a wait of %v as %q: got %q, want %q", tt.wait, form, got, want)
			}
		}
	}
	// A date as net/http writes it can be read by net/http.
	h := speak(voice(t, Settings{RetryAfter: "date"}, bucket(t, "default", 1, "1/s")), no(time.Second, 1, 0))
	if at, err := http.ParseTime(h.Get("Retry-After")); err != nil || at.Before(noon.Add(1250*ms)) {
		t.Errorf("got %v, %v, want a date after the wait", at, err)
	}
}

// The longest wait of the limits that refuse counts, and a limit that is made to
// lie is believed.
func TestRetryAfterOfSeveral(t *testing.T) {
	v := voice(t, Settings{}, bucket(t, "a", 1, "1/s"), bucket(t, "b", 1, "1/s"), bucket(t, "c", 1, "1/s"))
	if got := speak(v, no(3*time.Second, 1, 0), no(5*time.Second, 1, 0), yes(1, 1, 0)).Get("Retry-After"); got != "5" {
		t.Errorf("got %q, want the longer wait of 5 s", got)
	}
	liar := bucket(t, "liar", 1, "1/s")
	liar.RetryAfter = func(limiter.Decision, int64) int64 { return 0 }
	for form, want := range map[string]string{"seconds": "0", "date": "Sun, 01 Mar 2026 12:00:01 GMT"} {
		if got := speak(voice(t, Settings{RetryAfter: form}, liar), no(9*time.Second, 1, 0)).Get("Retry-After"); got != want {
			t.Errorf("a lie as %s: got %q, want %q", form, got, want)
		}
	}
}

type problemBody struct {
	problem
	Violated []string `json:"violated-policies"`
}

// The body names the limits that have refused, and only those.
func TestRefusalNamesTheLimits(t *testing.T) {
	shared := window60(t, "everybody", "100/m")
	shared.Shared = true
	concurrent := Policy{Name: "at-work", Promise: scenarios.Limit{Contract: scenarios.Concurrency, Burst: 4}}
	v := voice(t, Settings{Status: 403}, bucket(t, "per-key", 10, "5/s"), shared, concurrent)
	tests := []struct {
		decisions []limiter.Decision
		violated  []string
		detail    string
	}{
		{[]limiter.Decision{no(1, 1, 0), yes(1, 1, 0), yes(1, 1, 0)}, []string{"per-key"}, "the limit per-key of this client is 10 at once and 5/s; wait"},
		{[]limiter.Decision{yes(1, 1, 0), no(1, 1, 0), yes(1, 1, 0)}, []string{"everybody"}, "the limit everybody of all clients together is 100/m; wait"},
		{[]limiter.Decision{no(1, 1, 0), yes(1, 1, 0), no(1, 1, 0)}, []string{"per-key", "at-work"}, "5/s, the limit at-work of this client is 4 at the same time; wait"},
		{[]limiter.Decision{no(1, 1, 0), no(1, 1, 0), no(1, 1, 0)}, []string{"per-key", "everybody", "at-work"}, "everybody"},
	}
	for _, tt := range tests {
		w := httptest.NewRecorder()
		v.Write(w, v.Refusal(tt.decisions), noon.UnixNano())
		var p problemBody
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.Violated, tt.violated) || !strings.Contains(p.Detail, tt.detail) {
			t.Errorf("got %v, %q, want %v and %q", p.Violated, p.Detail, tt.violated, tt.detail)
		}
		if w.Code != 403 || p.Status != 403 || p.Type != QuotaExceeded || p.Title == "" {
			t.Errorf("got %d and %+v, want a 403 of exceeded quota", w.Code, p)
		}
	}
}

func TestAdviceFitsTheHeader(t *testing.T) {
	for form, want := range map[string]string{"": "as many seconds as Retry-After says", "date": "until the date", "absent": "come back later"} {
		v := voice(t, Settings{RetryAfter: form}, bucket(t, "default", 1, "1/s"))
		if body := string(v.Refusal([]limiter.Decision{no(1, 1, 0)}).body); !strings.Contains(body, want) {
			t.Errorf("%q: got %s, want it to say %q", form, body, want)
		}
	}
}

func TestWrite(t *testing.T) {
	busy := Busy(503, "Too much to do", "later")
	busy.Wait = 1500 * time.Millisecond
	tests := []struct {
		name   string
		answer *Answer
		want   map[string]string
	}{
		{"ok", OK(), map[string]string{"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", "Retry-After": ""}},
		{"a problem", Problem(400, "x"), map[string]string{"Content-Type": "application/problem+json", "Cache-Control": "no-store", "Retry-After": ""}},
		{"busy", busy, map[string]string{"Content-Type": "application/problem+json", "Cache-Control": "no-store", "Retry-After": "2"}},
		{"a long one", NewAnswer(200, "text/plain", make([]byte, 3000)), map[string]string{"Content-Length": "3000"}},
		{"nothing", NewAnswer(204, "", nil), map[string]string{"Content-Type": "", "Content-Length": ""}},
	}
	v := voice(t, Settings{})
	for _, tt := range tests {
		w := httptest.NewRecorder()
		v.Write(w, tt.answer, noon.Add(999*time.Millisecond).UnixNano())
		h := w.Result().Header
		for name, want := range tt.want {
			if got := h.Get(name); got != want {
				t.Errorf("%s: got %s %q, want %q", tt.name, name, got, want)
			}
		}
		if got, want := h.Get("Date"), "Sun, 01 Mar 2026 12:00:00 GMT"; got != want || w.Code != tt.answer.Status {
			t.Errorf("%s: got %d at %q, want %d at %q", tt.name, w.Code, got, tt.answer.Status, want)
		}
	}
}

// An admitted request is shown what is left of each limit.
func TestWriteAdmitted(t *testing.T) {
	v := voice(t, Settings{}, bucket(t, "per-key", 10, "5/s"), window60(t, "everybody", "100/m"))
	w := httptest.NewRecorder()
	v.WriteAdmitted(w, Standing{Decisions: []limiter.Decision{yes(9, 10, 200*time.Millisecond), yes(0, 100, 0)}}, noon.UnixNano())
	want := "ok\nper-key: 9 of 10 left, as if unused in 200ms\neverybody: 0 of 100 left\n"
	if w.Code != 200 || w.Body.String() != want {
		t.Errorf("got %d %q, want %q", w.Code, w.Body, want)
	}
	h := w.Result().Header
	if h.Get("Date") == "" || h.Get("Cache-Control") != "no-store" || h.Get("Content-Type") != "text/plain; charset=utf-8" || h.Get("Content-Length") != strconv.Itoa(len(want)) {
		t.Errorf("got %v", h)
	}
}

// A problem about something else than limits has the title of its status.
func TestProblem(t *testing.T) {
	var p problemBody
	if err := json.Unmarshal(Problem(http.StatusRequestEntityTooLarge, "too much").body, &p); err != nil {
		t.Fatal(err)
	}
	if p.Type != NoSpecialType || p.Title != "Request Entity Too Large" || p.Status != 413 || p.Detail != "too much" || p.Violated != nil {
		t.Errorf("got %+v", p)
	}
}

// Shared header values are not written to, whoever adds to a header later.
func TestSharedValuesStay(t *testing.T) {
	v := voice(t, Settings{Fields: []string{"draft"}}, bucket(t, "default", 1, "1/s"))
	first := speak(v, no(time.Second, 1, 0))
	for name := range first {
		first.Add(name, "more")
	}
	second := speak(v, no(time.Second, 1, 0))
	for name, values := range second {
		if len(values) != 1 || values[0] == "more" {
			t.Errorf("%s: got %q after another answer was added to", name, values)
		}
	}
}

func BenchmarkRefusal(b *testing.B) {
	v := voice(b, Settings{Fields: []string{"draft", "x-ratelimit"}}, bucket(b, "default", 10, "5/s"))
	d := []limiter.Decision{no(150*time.Millisecond, 10, time.Second)}
	s := Standing{Decisions: d, Wall: noon.UnixNano()}
	b.ReportAllocs()
	for b.Loop() {
		h := http.Header{}
		v.Policies(h)
		v.Standing(h, s)
		v.RetryAfter(h, s)
		v.Write(nothing{h}, v.Refusal(d), s.Wall)
	}
}

// nothing is a response that goes nowhere.
type nothing struct{ header http.Header }

func (n nothing) Header() http.Header       { return n.header }
func (nothing) Write(p []byte) (int, error) { return len(p), nil }
func (nothing) WriteHeader(int)             {}
