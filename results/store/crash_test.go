package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// wrapped is a file that asks before each step.
type wrapped struct {
	file
	ask func(step string) error
}

func (f wrapped) Write(b []byte) (int, error) {
	if err := f.ask("write"); err != nil {
		// As a full disk does: a piece is still written.
		n, _ := f.file.Write(b[:len(b)/2])
		return n, err
	}
	return f.file.Write(b)
}

func (f wrapped) Sync() error {
	if err := f.ask("sync"); err != nil {
		return err
	}
	return f.file.Sync()
}

func (f wrapped) Close() error {
	if err := f.ask("close"); err != nil {
		f.file.Close()
		return err
	}
	return f.file.Close()
}

// asking is a world of wrapped files.
func asking(c *clock, ask func(step string) error) world {
	return world{now: c.now, create: func(path string) (file, error) {
		if err := ask("create"); err != nil {
			return nil, err
		}
		f, err := createFile(path)
		return wrapped{f, ask}, err
	}}
}

// lively is a short run of several parts, with marks so long that a part has more
// of them than are kept in memory.
func lively() []results.Block {
	blocks := cut(steady(3000), 300)
	for i := range blocks {
		at := blocks[i].Hits[0].Done
		blocks[i].Marks = []results.Mark{{At: at, To: at, Kind: results.MarkStall, Text: strings.Repeat("x", 30_000)}}
	}
	return blocks
}

// fire writes blocks, one every 600 ms: a part closes at every third.
func fire(w *Writer, c *clock, blocks []results.Block) error {
	for _, b := range blocks {
		if err := w.Write(b); err != nil {
			return err
		}
		c.at = c.at.Add(600 * time.Millisecond)
	}
	return nil
}

// TestKilledAtAnyMoment copies the folder at each step that the writer takes on
// the disk, as a kill there would leave it, and reads the copy.
func TestKilledAtAnyMoment(t *testing.T) {
	blocks := lively()
	var all []results.Hit
	for _, b := range blocks {
		all = append(all, b.Hits...)
	}
	dir, c := filepath.Join(t.TempDir(), "run"), newClock()
	var w *Writer
	moments, partial := 0, 0
	check := func(step string) error {
		if w == nil {
			return nil
		}
		moments++
		got := readAll(t, copyRun(t, dir))
		if n := w.Saved(); int64(len(got.hits)) != n {
			t.Errorf("%s %d: got %d hits, want the %d that are saved", step, moments, len(got.hits), n)
		}
		equalHits(t, got.hits, all[:len(got.hits)])
		// Three blocks make a part, and each has a mark.
		if len(got.marks) < len(got.hits)/300 {
			t.Errorf("%s %d: got %d marks, want those of %d hits", step, moments, len(got.marks), len(got.hits))
		}
		last := got.damage[len(got.damage)-1]
		if last.File != manifestName || last.To != results.Never {
			t.Errorf("%s %d: got %v, want a hole to the end", step, moments, got.damage)
		}
		if len(got.damage) > 1 {
			partial++
			if d := got.damage[0]; d.File != marksName || !strings.Contains(d.Text, "cut") {
				t.Errorf("%s %d: got %v, want a cut line of marks at most", step, moments, got.damage)
			}
		}
		for _, h := range all[len(got.hits):] {
			if h.Sent < last.From {
				t.Fatalf("%s %d: a lost hit was sent at %d, before the hole of %v", step, moments, h.Sent, last)
			}
		}
		return nil
	}
	w = mustCreate(t, dir, asking(c, check))
	if err := fire(w, c, blocks); err != nil {
		t.Fatal(err)
	}
	mustClose(t, w)
	if moments < 15 || partial == 0 {
		t.Errorf("got %d moments, %d of them with a cut line: too few to prove anything", moments, partial)
	}
	got := readAll(t, dir)
	equalHits(t, got.hits, all)
	if len(got.marks) != len(blocks) || len(got.damage) > 0 {
		t.Errorf("got %d marks and damage %v, want %d and none", len(got.marks), got.damage, len(blocks))
	}
}

// TestDiskFullAtAnyStep lets each step of the writer fail in turn.
func TestDiskFullAtAnyStep(t *testing.T) {
	failed := 0
	for at := 0; ; at++ {
		ok := t.Run(fmt.Sprint(at), func(t *testing.T) {
			if diskFull(t, at) {
				failed++
			}
		})
		if !ok || failed <= at {
			break
		}
	}
	if failed < 15 {
		t.Errorf("got %d steps that failed: too few to prove anything", failed)
	}
}

// diskFull fires a run whose step number at fails, and reports whether it got there.
func diskFull(t *testing.T, at int) bool {
	dir, c := filepath.Join(t.TempDir(), "run"), newClock()
	step := 0
	full := func(string) error {
		if step++; step > at {
			return fmt.Errorf("write: %w", syscall.ENOSPC)
		}
		return nil
	}
	w, err := create(dir, Manifest{}, asking(c, full))
	if err != nil {
		if _, again := Create(dir, Manifest{}); again != nil || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("got %v and then %v, want the disk full, and the folder free for another try", err, again)
		}
		return true
	}
	err = fire(w, c, lively())
	if err != nil {
		checkFull(t, w, dir, err)
	}
	end := w.Close(Manifest{})
	if err == nil && end != nil {
		checkFull(t, w, dir, end)
	}
	return end != nil
}

// checkFull checks a run whose recording stopped with err.
func checkFull(t *testing.T, w *Writer, dir string, err error) {
	t.Helper()
	saved := w.Saved()
	for _, want := range []string{grouped(saved) + " hits are saved in " + dir, syscall.ENOSPC.Error()} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want it to say %q", err, want)
		}
	}
	if again := w.Write(results.Block{Hits: steady(1)}); again != err {
		t.Errorf("the next Write: got %v, want the same error", again)
	}
	if again := w.Close(Manifest{}); again != err {
		t.Errorf("Close: got %v, want the same error", again)
	}
	if tmp, _ := filepath.Glob(filepath.Join(dir, timelineName, "*.tmp")); len(tmp) > 0 {
		t.Errorf("got %v left behind, want its space given back", tmp)
	}
	got := readAll(t, dir)
	if int64(len(got.hits)) != saved || got.damage == nil {
		t.Errorf("got %d hits and damage %v, want %d and a hole at the end", len(got.hits), got.damage, saved)
	}
	for _, d := range got.damage {
		if d.To != results.Never {
			t.Errorf("got %v, want holes at the end only", d)
		}
	}
	if run, e := Open(dir); e != nil || run.Manifest.Ended || !strings.Contains(run.Manifest.StoppedWhy, syscall.ENOSPC.Error()) {
		t.Errorf("got manifest %+v, %v, want it not ended and to say why", run.Manifest, e)
	}
}

// TestReadWhileWriting reads a run again and again while it is written: each
// reading has the hits of the closed parts, from the first on.
func TestReadWhileWriting(t *testing.T) {
	all := steady(40_000)
	dir, c := t.TempDir(), newClock()
	w := mustCreate(t, dir, world{now: c.now, create: createFile})
	done := make(chan error, 1)
	defer func() {
		for range done {
		}
	}()
	go func() {
		defer close(done)
		if err := fire(w, c, cut(all, 500)); err != nil {
			done <- err
		}
	}()
	for reading := true; reading; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			reading = false
		default:
		}
		before := w.Saved()
		got := readAll(t, dir)
		if int64(len(got.hits)) < before {
			t.Fatalf("got %d hits, want at least the %d that were saved before", len(got.hits), before)
		}
		equalHits(t, got.hits, all[:len(got.hits)])
		if len(got.damage) != 1 || got.damage[0].File != manifestName {
			t.Fatalf("got %v, want only that the run has not ended", got.damage)
		}
	}
	mustClose(t, w)
	if got := readAll(t, dir); len(got.hits) != len(all) || len(got.damage) > 0 {
		t.Errorf("got %d hits and damage %v, want %d and none", len(got.hits), got.damage, len(all))
	}
	if names, _ := os.ReadDir(filepath.Join(dir, timelineName)); len(names) != len(partFiles(t, dir)) {
		t.Errorf("got %v, want parts only", names)
	}
}
