package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestShrinkWritable: what would keep the file or the record from being written is
// said before the search, and nothing is left behind by looking.
func TestShrinkWritable(t *testing.T) {
	t.Chdir(t.TempDir())
	look := func(out, want string) {
		t.Helper()
		err := (&shrinkFlags{out: out, budget: time.Minute}).writable()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("--out %s: got %v, want %q", out, err, want)
		}
	}
	if err := os.WriteFile("blocked", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	look("nowhere/a.yaml", "--out: ")
	look("blocked/a.yaml", "--out: ")
	look("a.yaml", "")
	entries, err := os.ReadDir(".")
	if err != nil || len(entries) != 2 { // blocked, and the folder of the runs
		t.Errorf("got %v, %v, want nothing new but the folder of the runs", entries, err)
	}
	if err := os.RemoveAll(runsFolder); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(runsFolder, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	look("a.yaml", "the runs folder: ")
}
