package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results/store"
)

// sentAt are the moments at which a run's requests left, by their places in the plan.
func sentAt(t *testing.T, folder string) map[int64]int64 {
	t.Helper()
	saved, err := store.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	at := map[int64]int64{}
	for b, err := range saved.Blocks() {
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range b.Hits {
			at[h.Seq] = h.Sent
		}
	}
	return at
}

// Two URLs are fired at side by side: on one clock, and as often the one first as the
// other, so that the same server twice is not told apart and one that is slower is.
func TestAbreast(t *testing.T) {
	serve := func(wait time.Duration) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { time.Sleep(wait) }))
		t.Cleanup(s.Close)
		return s.URL
	}
	plain, other, slow := serve(0), serve(0), serve(30*time.Millisecond)
	dir := t.TempDir()
	file := filepath.Join(dir, "paced.yaml")
	if err := os.WriteFile(file, []byte("limit: {burst: 1000, rate: 1000/s}\nphases: [{name: paced, at: 50ms, pace: 200/s, count: 200}]\nchecks: [bound]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, url string
		want      int
	}{{"the same twice", other, 0}, {"one that is slower", slow, exitSlower}}
	for i, tt := range tests {
		out := filepath.Join(dir, string('a'+rune(i)))
		var said, talk bytes.Buffer
		if code := run([]string{"compare", plain, tt.url, "--scenario", file, "--out", out, "--latency-within", "50%"}, &said, &talk); code != tt.want {
			t.Errorf("%s: exit code %d, want %d\n%s%s", tt.name, code, tt.want, &said, &talk)
		}
		base, candidate := sentAt(t, filepath.Join(out, "base")), sentAt(t, filepath.Join(out, "candidate"))
		first, both := 0, 0
		for seq, at := range base {
			if with, ok := candidate[seq]; ok {
				both++
				if at < with {
					first++
				}
			}
		}
		if both < 50 || first < both/4 || first > both-both/4 {
			t.Errorf("%s: of %d moments the base was first at %d, want about half", tt.name, both, first)
		}
	}
}
