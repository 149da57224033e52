package store

import (
	"path/filepath"
	"strings"
	"testing"
)

// A file of states belongs to one at a time: until that one closes it, also if it
// has never written there.
func TestFileIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "states")
	for range 2 {
		first, _, err := OpenTables(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := OpenTables(path); err == nil || !strings.Contains(err.Error(), "another server keeps its states there") || !strings.Contains(err.Error(), path) {
			t.Errorf("opening it twice: got %v, want an error that says why, and where", err)
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
