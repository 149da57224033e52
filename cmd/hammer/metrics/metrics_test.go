package metrics

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

// family is what a reader of the text form makes of one.
type family struct {
	kind    string
	samples map[string]float64 // by name and labels as they stand
}

var (
	commentLine = regexp.MustCompile(`^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$`)
	sampleLine  = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\S+)$`)
)

// parse reads the text form strictly: every family has its help and its type, once,
// before its samples, which stand together; no sample comes twice.
func parse(text string) (map[string]family, error) {
	all, helped, now := map[string]family{}, "", ""
	if !strings.HasSuffix(text, "\n") {
		return nil, fmt.Errorf("the last line has no end")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if c := commentLine.FindStringSubmatch(line); c != nil {
			switch {
			case c[1] == "HELP":
				helped = c[2]
			case c[2] != helped || all[c[2]].kind != "":
				return nil, fmt.Errorf("type of %s at the wrong place", c[2])
			default:
				now = c[2]
				all[now] = family{c[3], map[string]float64{}}
			}
			continue
		}
		s := sampleLine.FindStringSubmatch(line)
		if s == nil {
			return nil, fmt.Errorf("no sample: %q", line)
		}
		name := s[1]
		if all[now].kind == "histogram" {
			name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		}
		v, err := strconv.ParseFloat(s[3], 64)
		_, twice := all[now].samples[s[1]+s[2]]
		if name != now || err != nil || twice {
			return nil, fmt.Errorf("sample of %s under %s: %q", name, now, line)
		}
		all[now].samples[s[1]+s[2]] = v
	}
	return all, nil
}

func read(t *testing.T, m *Metrics) map[string]family {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "text/plain; version=0.0.4") {
		t.Errorf("got content type %q", got)
	}
	all, err := parse(w.Body.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, w.Body.String())
	}
	return all
}

func TestMetrics(t *testing.T) {
	m := New(5, func() State {
		return State{Phase: "odd \"name\" \\ \n", Seconds: 2.5, Planned: 40, Missed: 3}
	})
	var b results.Block
	for i := range int64(30) { // 30 at once on each key are a burst of 30, whatever the rate
		for _, key := range []string{"a", "b"} {
			b.Hits = append(b.Hits, results.Hit{Key: key, Cost: 1, Sent: 1e9, Planned: 1e9 - 3e6, First: 1e9 + 2e6, Outcome: results.Outcome(i % 3)})
		}
	}
	m.Block(b)
	all := read(t, m)
	for _, tt := range []struct {
		family, sample string
		want           float64
	}{
		{"hammer_requests_total", `hammer_requests_total{outcome="admitted"}`, 20},
		{"hammer_requests_total", `hammer_requests_total{outcome="other"}`, 0},
		{"hammer_planned_requests", "hammer_planned_requests", 40},
		{"hammer_missed_requests_total", "hammer_missed_requests_total", 3},
		{"hammer_offered_burst_tokens", "hammer_offered_burst_tokens", 30},
		{"hammer_elapsed_seconds", "hammer_elapsed_seconds", 2.5},
		{"hammer_phase", `hammer_phase{phase="odd \"name\" \\ \n"}`, 1},
		{"hammer_lateness_seconds", `hammer_lateness_seconds_bucket{le="0.0025"}`, 0},
		{"hammer_lateness_seconds", `hammer_lateness_seconds_bucket{le="0.005"}`, 60},
		{"hammer_lateness_seconds", `hammer_lateness_seconds_sum`, 0.18},
		{"hammer_answer_seconds", `hammer_answer_seconds_bucket{outcome="admitted",le="0.0025"}`, 20},
		{"hammer_answer_from_due_seconds", `hammer_answer_from_due_seconds_bucket{outcome="admitted",le="0.0025"}`, 0},
		{"hammer_answer_from_due_seconds", `hammer_answer_from_due_seconds_bucket{outcome="admitted",le="+Inf"}`, 20},
	} {
		got, there := all[tt.family].samples[tt.sample]
		if !there || got != tt.want {
			t.Errorf("%s: got %v (there: %v), want %v", tt.sample, got, there, tt.want)
		}
	}
}

// The buckets of a histogram rise, and the last one holds all.
func TestHistogramsRise(t *testing.T) {
	m := New(0, func() State { return State{} })
	var b results.Block
	for i := range int64(2000) {
		b.Hits = append(b.Hits, results.Hit{Sent: i * i * 10_000, First: i*i*10_000 + i*i*5000, Outcome: results.Admitted})
	}
	m.Block(b)
	samples := read(t, m)["hammer_answer_seconds"].samples
	last := 0.0
	for _, edge := range append(edges[:], 1e300) {
		le := strconv.FormatFloat(edge, 'g', -1, 64)
		if edge == 1e300 {
			le = "+Inf"
		}
		n := samples[`hammer_answer_seconds_bucket{outcome="admitted",le="`+le+`"}`]
		if n < last {
			t.Errorf("le %s: got %v, less than the %v before", le, n, last)
		}
		last = n
	}
	if count := samples[`hammer_answer_seconds_count{outcome="admitted"}`]; last != 2000 || count != 2000 {
		t.Errorf("got %v in the last bucket and a count of %v, want 2000", last, count)
	}
}

func TestOnlyReading(t *testing.T) {
	w := httptest.NewRecorder()
	New(0, func() State { return State{} }).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("got %d for a POST, want 405", w.Code)
	}
}

func BenchmarkBlock(b *testing.B) {
	m := New(5, func() State { return State{} })
	var block results.Block
	for i := range int64(1000) {
		block.Hits = append(block.Hits, results.Hit{Key: fmt.Sprintf("pressure/%d", i%40), Sent: i * 1_000_000, First: i*1_000_000 + 700_000, Outcome: results.Outcome(i % 3)})
	}
	b.ReportAllocs()
	for b.Loop() {
		m.Block(block)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/hit")
}
