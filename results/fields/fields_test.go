package fields

import (
	"bufio"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

var update = flag.Bool("update", false, "write what the testdata is read as into its .want files")

// Every dialect that was seen is read as its .want file says, of which each line
// was checked by hand.
func TestRead(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 25 {
		t.Fatalf("got %d files, %v", len(files), err)
	}
	for _, file := range files {
		got := told(Read(hit(t, file)))
		name := strings.TrimSuffix(file, ".txt") + ".want"
		if *update {
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%swant\n%s", file, got, want)
		}
	}
}

// hit records an answer as the real client does. A 403 and a 503 of the testdata
// are declared refusals.
func hit(t *testing.T, file string) *results.Hit {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head := strings.ReplaceAll(strings.Replace(string(src), "HTTP/2 ", "HTTP/2.0 ", 1), "\n", "\r\n") + "\r\n"
	res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(head)), nil)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	h := &results.Hit{Status: int32(res.StatusCode), RetryAfter: res.Header.Get("Retry-After"), Date: res.Header.Get("Date"), Outcome: results.Limited}
	if res.StatusCode == 200 {
		h.Outcome = results.Admitted
	}
	for _, line := range strings.Split(strings.TrimSpace(string(src)), "\n")[1:] {
		if name, value, _ := strings.Cut(line, ":"); !strings.EqualFold(name, "retry-after") {
			h.Headers += strings.ToLower(name) + ":" + value + "\n"
		}
	}
	return h
}

// told is an answer in words.
func told(a Answer) string {
	var b strings.Builder
	switch w := a.Wait; {
	case w.Known:
		fmt.Fprintf(&b, "wait %v by %s%s\n", w.For, w.Basis, guess(w.Guess, w.Other))
	case w.Least > 0:
		fmt.Fprintf(&b, "wait of nobody's promise, at least %v\n", w.Least)
	default:
		fmt.Fprintln(&b, "wait unknown")
	}
	for _, t := range a.Told {
		fmt.Fprintf(&b, "%s %q", t.Dialect, t.Name)
		for _, n := range []struct {
			name string
			Number
		}{{"limit", t.Limit}, {"remaining", t.Remaining}, {"used", t.Used}, {"per-second", t.PerSecond}, {"cost", t.Cost}} {
			if n.Told {
				fmt.Fprintf(&b, " %s %d", n.name, n.N)
			}
		}
		if m := t.Reset; m.Unit != Absent {
			fmt.Fprintf(&b, " reset %v (%v)%s", m.Wait, m.Unit, guess(m.Guess, m.Other))
		}
		fmt.Fprintln(&b)
	}
	for _, p := range a.Policies {
		fmt.Fprintf(&b, "policy %q %d per %v\n", p.Name, p.Quota, p.Window)
	}
	for _, f := range a.Faults {
		fmt.Fprintf(&b, "fault %s\n", f)
	}
	for _, n := range a.Notes {
		fmt.Fprintf(&b, "note %s\n", n)
	}
	return b.String()
}

func guess(taken, other string) string {
	switch {
	case taken == "" && other == "":
		return ""
	case other == "":
		return ", taken as " + taken
	case taken == "":
		return ", or " + other
	}
	return ", taken as " + taken + ", or " + other
}

// What a number means is told by its size, and each guess by name.
func TestMoment(t *testing.T) {
	const date = "Sun, 01 Mar 2026 12:00:00 GMT" // 1772366400
	tests := []struct {
		text string
		unit Unit
		wait time.Duration
		says bool // a guess
	}{
		{"30", Seconds, 30 * time.Second, true},
		{"999999999", Seconds, 999999999 * time.Second, true},
		{"2.5", Seconds, 2500 * time.Millisecond, true},
		{"-3", Seconds, -3 * time.Second, true},
		{"1772366430", Epoch, 30 * time.Second, true},
		{"1772366430.25", Epoch, 30250 * time.Millisecond, true},
		{"1772366395", Epoch, -5 * time.Second, true},
		{"1772366430250", EpochMS, 30250 * time.Millisecond, true},
		{"6m0s", Span, 6 * time.Minute, false},
		{"12ms", Span, 12 * time.Millisecond, false},
		{"2026-03-01T12:00:30Z", RFC3339, 30 * time.Second, false},
		{"2026-03-01T13:00:30+01:00", RFC3339, 30 * time.Second, false},
		{"Sun, 01 Mar 2026 12:00:30 GMT", HTTPDate, 30 * time.Second, false},
		{"Sun, 01 Mar 2026 12:00:30 UTC", HTTPDate, 30 * time.Second, true},
		{"500000000000", Unreadable, 0, false}, // 1985 in milliseconds, 17,800 in seconds
		{"99999999999999999", Unreadable, 0, false},
		{"tomorrow", Unreadable, 0, false},
		{"", Unreadable, 0, false},
		{"1.2.3", Unreadable, 0, false},
	}
	for _, tt := range tests {
		m := moment("reset", tt.text, date, false)
		if m.Unit != tt.unit || m.Wait != tt.wait || m.Known != (tt.unit != Unreadable) || (m.Guess != "") != tt.says {
			t.Errorf("%q: got %+v, want %v and %v", tt.text, m, tt.unit, tt.wait)
		}
		if m := moment("reset", tt.text, "", false); m.Unit.Clocked() && m.Known {
			t.Errorf("%q without a Date: got %+v, want an unknown wait", tt.text, m)
		}
	}
	if m := moment("reset", "30", date, true); m.Guess != "" || m.Other != "" {
		t.Errorf("of a standard: got the guess %q, or %q", m.Guess, m.Other)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("x-ratelimit-reset: 1772366430\nx-ratelimit-remaining: 0", "", "Sun, 01 Mar 2026 12:00:00 GMT")
	f.Add("ratelimit: \"a\";r=0;t=5\nratelimit-policy: \"a\";q=5;w=1", "5", "")
	f.Add("ratelimit: limit=5, remaining=0, reset=1", "Sun, 01 Mar 2026 12:00:30 GMT", "Sun, 01 Mar 2026 12:00:00 GMT")
	f.Add("x-ratelimit-limit: 8, 8;window=1;name=\"x\"\nx-shop-api-call-limit: 3/40\nretry-after-ms: 12", "2.0", "")
	f.Fuzz(func(t *testing.T, headers, retry, date string) {
		h := results.Hit{Headers: headers, RetryAfter: retry, Date: date, Outcome: results.Limited}
		a := Read(&h)
		if a.Wait.Known && (a.Wait.For < 0 || a.Wait.For > longest || a.Wait.Basis == "") || a.Wait.Least < 0 {
			t.Errorf("got the wait %+v", a.Wait)
		}
		for _, told := range a.Told {
			if m := told.Reset; m.Wait > longest || m.Wait < -longest || !m.Known && m.Wait != 0 || m.Known && m.Grain <= 0 {
				t.Errorf("got the moment %+v", m)
			}
		}
		// What RFC 9110 allows is read as it has it, or the answer says why not.
		if asks := h.Asks(); asks.Readable() && asks.Wait >= 0 && !a.Wait.Known {
			t.Errorf("got no wait, and Retry-After %q asks for %v", retry, asks.Wait)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	h := results.Hit{Outcome: results.Limited, RetryAfter: "1", Date: "Sun, 01 Mar 2026 12:00:00 GMT",
		Headers: "cache-control: no-store\nratelimit: \"default\";r=0;t=1\nratelimit-policy: \"default\";q=10;w=2\nx-ratelimit-limit: 10\nx-ratelimit-remaining: 0\nx-ratelimit-reset: 1772366402"}
	b.ReportAllocs()
	for b.Loop() {
		Read(&h)
	}
}
