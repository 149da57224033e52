package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

func TestRemove(t *testing.T) {
	write := func(name string) string {
		t.Helper()
		dir := filepath.Join(t.TempDir(), name)
		w, err := Create(dir, Manifest{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Write(results.Block{Hits: []results.Hit{{Seq: 1, Key: "a", Cost: 1, Done: 3}}}), w.Close(Manifest{}), SaveVerdict(dir, 1)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	exists := func(name string) bool { _, err := os.Lstat(name); return !errors.Is(err, fs.ErrNotExist) }

	dir := write("run")
	if err := Remove(dir); err != nil || exists(dir) {
		t.Errorf("got %v, and the folder is there: %v", err, exists(dir))
	}
	// What somebody else put there stays, and the rest goes.
	dir = write("mixed")
	mine := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(mine, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir); !errors.Is(err, ErrLeft) || !exists(mine) || exists(filepath.Join(dir, manifestName)) {
		t.Errorf("got %v, want that the notes stay and the manifest goes", err)
	}
	// A folder that holds no run is nobody's.
	if err := Remove(dir); !errors.Is(err, ErrNoRun) || !exists(mine) {
		t.Errorf("got %v, want that it holds no run", err)
	}
	dir = write("timeline")
	mine = filepath.Join(dir, timelineName, "mine.parquet")
	if err := os.WriteFile(mine, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir); !errors.Is(err, ErrLeft) || !exists(mine) || !exists(filepath.Join(dir, manifestName)) {
		t.Errorf("got %v, want that the file in the timeline and the manifest stay", err)
	}
}
