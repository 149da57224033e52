package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
)

// suspect is a small limiter of tests: buckets by key, of which there may be
// several sets side by side.
type suspect struct {
	burst, perSecond float64
	gap              time.Duration      // from reading a level to writing it
	most             int                // keys that are remembered; 0: all
	route            func(conn int) int // the set that a connection reaches; nil: there is one
	mu               sync.Mutex
	levels           map[string]*suspectLevel
	conns            int
}

type suspectLevel struct {
	tokens float64
	at     time.Time
}

type connNumber struct{}

// serve starts it and gives its URL.
func (s *suspect) serve(t *testing.T) string {
	t.Helper()
	s.levels = map[string]*suspectLevel{}
	server := httptest.NewUnstartedServer(s)
	server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.conns++
		return context.WithValue(ctx, connNumber{}, s.conns)
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL
}

func (s *suspect) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("X-Api-Key")
	if s.route != nil {
		key += string(rune('0' + s.route(r.Context().Value(connNumber{}).(int))))
	}
	s.mu.Lock()
	l := s.level(key)
	now := time.Now()
	read := min(s.burst, l.tokens+now.Sub(l.at).Seconds()*s.perSecond)
	if s.gap > 0 && read >= 1 { // others read the same level meanwhile
		s.mu.Unlock()
		time.Sleep(s.gap)
		s.mu.Lock()
	}
	defer s.mu.Unlock()
	if read+1e-9 < 1 {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	l.tokens, l.at = read-1, now
}

// level is what is known of a key. A table that is full forgets all of it.
func (s *suspect) level(key string) *suspectLevel {
	l := s.levels[key]
	if l == nil {
		if s.most > 0 && len(s.levels) >= s.most {
			clear(s.levels)
		}
		l = &suspectLevel{tokens: s.burst, at: time.Now()}
		s.levels[key] = l
	}
	return l
}

// What a run alone cannot tell apart the follow-ups do, on real connections, and
// the saved record names the same cause again.
func TestFollowUpsDecide(t *testing.T) {
	tests := []struct {
		name    string
		limiter *suspect
		want    string // the cause
		says    string // a part of its text or reasons that only a follow-up can give
	}{
		// Both let more through at once than is promised.
		{"a race", &suspect{burst: 10, perSecond: 5, gap: 2 * time.Millisecond}, assertions.CauseRace, "one after the other is admitted as promised"},
		{"instances by connection", &suspect{burst: 10, perSecond: 5, route: func(c int) int { return c % 2 }}, assertions.CauseMultiple, "the connection decides which of them is asked"},
		// Both behave like burst 11 in a volley, or the first may.
		{"one too many", &suspect{burst: 11, perSecond: 5}, assertions.CauseOffset, "it takes no requests that overlap"},
		// Both refuse what is promised.
		{"a share by connection", &suspect{burst: 5, perSecond: 2.5, route: func(c int) int { return c % 2 }}, assertions.CauseFraction, "a connection reaches one of them"},
		// Both give a drained key a full bucket now and then.
		{"a table that is cleared", &suspect{burst: 10, perSecond: 5, most: 16}, assertions.CauseEvicted, "other keys had come"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url := tt.limiter.serve(t)
			var r report.Report
			for try := range 3 { // on a busy machine requests overlap that should not, and decide nothing
				code := 0
				if code, r = diagnosing(t, "check", url, "--burst", "10", "--rate", "5/s"); code != exitBroken {
					t.Fatalf("got exit code %d, %s, want broken", code, r.Headline)
				}
				id, said := causeOf(r)
				if id == tt.want && strings.Contains(said, tt.says) {
					break
				}
				if t.Logf("got %s: %s, want %s with %q", id, said, tt.want, tt.says); try == 2 {
					t.Fail()
				}
			}
			if again := judgedAgain(t, r.Folder); !reflect.DeepEqual(again.Causes, r.Causes) || again.Headline != r.Headline {
				t.Errorf("the saved record gives\n%+v\nwant\n%+v", again.Causes, r.Causes)
			}
		})
	}
}

// causeOf is the likeliest cause, and all that is said of it.
func causeOf(r report.Report) (id, said string) {
	if len(r.Causes) == 0 {
		return "nothing", ""
	}
	c := r.Causes[0]
	return c.ID, c.Text + " " + strings.Join(c.Reasons, " ")
}

// judgedAgain is what hammer judge says of a saved run.
func judgedAgain(t *testing.T, folder string) (r report.Report) {
	t.Helper()
	var out, talk bytes.Buffer
	run([]string{"judge", folder, "--json"}, &out, &talk)
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v in %s%s", err, out.String(), talk.String())
	}
	return r
}

// Follow-ups are fired after a breach and only then, and not where they are not wanted.
func TestFollowUpsAreFiredAfterABreach(t *testing.T) {
	right, wrong := &suspect{burst: 10, perSecond: 5}, &suspect{burst: 11, perSecond: 5}
	promise := []string{"--burst", "10", "--rate", "5/s"}
	tests := []struct {
		name    string
		limiter *suspect
		flags   []string
		want    bool
	}{
		{"kept", right, nil, false},
		{"broken", wrong, nil, true},
		{"no time", wrong, []string{"--diagnose-for", "0"}, false},
		{"no diagnosis", wrong, []string{"--no-diagnose"}, false},
		{"fail fast", wrong, []string{"--fail-fast"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := &suspect{burst: tt.limiter.burst, perSecond: tt.limiter.perSecond}
			_, r := diagnosing(t, append(append([]string{"check", l.serve(t)}, promise...), tt.flags...)...)
			if len(r.Run.Phases) == 0 {
				t.Fatalf("nothing was fired: %+v", r)
			}
			fired := strings.HasPrefix(r.Run.Phases[len(r.Run.Phases)-1].Name, "follow-up: ")
			if fired != tt.want {
				t.Errorf("got follow-ups: %v, want %v (%v, %d planned)", fired, tt.want, r.Status, r.Run.Planned)
			}
			if tt.limiter == right && r.Status == results.Broken {
				t.Errorf("a right limiter was accused: %s", r.Headline)
			}
		})
	}
}
