package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/store"
)

// A run that has not ended is counted by its parts, and is stopped when nothing is
// written to it; it may not be removed for an hour.
func TestRunThatHasNotEnded(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	w, err := store.Create(folder, store.Manifest{Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	hits := []results.Hit{{Seq: 1, Key: "a", Cost: 1, First: 1, Done: 1, Outcome: results.Admitted}, {Seq: 2, Key: "a", Cost: 1, Sent: 2, First: 3, Done: 3, Outcome: results.Admitted}}
	if err := w.Write(results.Block{Hits: hits, Low: results.Never}); err != nil {
		t.Fatal(err)
	}
	begun, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(store.Manifest{Started: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "manifest.json"), begun, 0o600); err != nil { // as if it had been killed before
		t.Fatal(err)
	}
	for _, tt := range []struct {
		ago  time.Duration
		word string
		used bool
	}{{0, "RUNNING  2 requests", true}, {time.Minute, "STOPPED  2 requests", true}, {2 * time.Hour, "STOPPED  2 requests", false}} {
		age(t, folder, tt.ago)
		s, err := readSaved(folder)
		if err != nil || !strings.Contains(s.text(), tt.word) || s.used(time.Now()) != tt.used {
			t.Errorf("%v ago: got %v, want %q and used %v", tt.ago, s.text(), tt.word, tt.used)
		}
	}
}

// age moves the times of all files of a folder back.
func age(t *testing.T, folder string, by time.Duration) {
	t.Helper()
	at := time.Now().Add(-by)
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, at, at)
	})
	if err != nil {
		t.Fatal(err)
	}
}
