package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

const (
	partHits = 100_000     // hits, or marks, after which a part is closed
	partAge  = time.Second // time after which it is
)

// world is what a Writer meets outside itself; tests bring their own.
type world struct {
	now    func() time.Time
	create func(path string) (file, error)
}

// Writer writes the folder of one run. Its memory does not grow with the run.
// It is for one goroutine, which may not be the one that paces: closing a part
// waits for the disk.
type Writer struct {
	dir   string
	world world
	part  *partWriter
	marks *markWriter
	parts int          // closed
	saved atomic.Int64 // hits in them
	low   int64        // of the blocks written so far
	since time.Time    // when the oldest thing not yet saved came; zero: all is saved
	err   error        // the first one; it is the answer to everything after it
}

// errClosed is the answer to a Write behind Close.
var errClosed = errors.New("the run is closed")

// Create makes the folder of a run, and the folders above it, and writes the
// manifest. It refuses a folder that holds a run: no record is overwritten.
func Create(dir string, m Manifest) (*Writer, error) {
	return create(dir, m, world{now: time.Now, create: createFile})
}

func create(dir string, m Manifest, o world) (*Writer, error) {
	if err := claim(dir); err != nil {
		return nil, err
	}
	w := &Writer{dir: dir, world: o, part: newPartWriter()}
	m.Ended = false
	err := m.save(dir)
	if err == nil {
		err = w.openMarks()
	}
	if err != nil {
		// The folder was claimed, so what lies in it is ours; the claim goes last.
		for _, name := range []string{marksName, manifestName, timelineName} {
			os.Remove(filepath.Join(dir, name))
		}
		return nil, fmt.Errorf("making the run folder: %w", err)
	}
	return w, nil
}

// claim makes dir and its timeline. Making the timeline fails for all but one
// of those who try at the same time.
func claim(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the run folder: %w", err)
	}
	taken := fmt.Errorf("%s already holds a run: give another folder, or remove this one", dir)
	for _, name := range []string{manifestName, marksName} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return taken
		}
	}
	err := os.Mkdir(filepath.Join(dir, timelineName), 0o755)
	switch {
	case errors.Is(err, fs.ErrExist):
		return taken
	case err != nil:
		return fmt.Errorf("making the run folder: %w", err)
	}
	return nil
}

func (w *Writer) openMarks() error {
	f, err := w.world.create(filepath.Join(w.dir, marksName))
	if err != nil {
		return err
	}
	w.marks = newMarkWriter(f)
	return syncDir(w.dir)
}

// Write adds a block to the record, and closes the open part when it is a
// second old or holds 100,000 hits. A block without hits is worth writing: it
// is what closes a part in time while nothing is answered. After the first
// error each call gives that error, and the closed parts stay as they are. The
// block is not kept.
func (w *Writer) Write(b results.Block) error {
	if w.err != nil {
		return w.err
	}
	if err := w.write(b); err != nil {
		return w.fail(err)
	}
	return nil
}

func (w *Writer) write(b results.Block) error {
	if w.since.IsZero() && len(b.Hits)+len(b.Marks) > 0 {
		w.since = w.world.now()
	}
	if err := w.marks.add(b.Marks); err != nil {
		return err
	}
	for hits := b.Hits; len(hits) > 0; {
		n := min(len(hits), partHits-w.part.hits)
		if err := w.add(hits[:n]); err != nil {
			return err
		}
		if hits = hits[n:]; len(hits) == 0 {
			break
		}
		// The part ends inside the block, so of b.Low it can say nothing; the
		// one before still holds for the rest of the block.
		if err := w.flush(); err != nil {
			return err
		}
		w.since = w.world.now()
	}
	w.low = max(w.low, b.Low)
	if w.due() {
		return w.flush()
	}
	return nil
}

func (w *Writer) add(hits []results.Hit) error {
	if w.part.file == nil {
		f, err := w.world.create(w.path(w.parts+1) + ".tmp")
		if err != nil {
			return err
		}
		w.part.begin(f)
	}
	return w.part.add(hits)
}

func (w *Writer) path(part int) string {
	return filepath.Join(w.dir, timelineName, partName(part))
}

func (w *Writer) due() bool {
	if w.since.IsZero() {
		return false
	}
	return w.part.hits >= partHits || w.marks.open >= partHits || w.world.now().Sub(w.since) >= partAge
}

// flush saves all that was written so far. The marks go first: a part without
// the stall that belongs to it would accuse the limiter of hammer's own delay.
func (w *Writer) flush() error {
	w.since = time.Time{}
	if err := w.marks.flush(); err != nil {
		return err
	}
	if w.part.file == nil {
		return nil
	}
	n, path := w.part.hits, w.path(w.parts+1)
	if err := w.part.end(w.low, w.marks.n); err != nil {
		return err
	}
	if err := rename(path+".tmp", path); err != nil {
		return err
	}
	w.part.hits = 0
	w.parts++
	w.saved.Add(int64(n))
	return syncDir(filepath.Dir(path))
}

// fail makes err the answer to every later call and gives back the space of
// the part that was cut.
func (w *Writer) fail(err error) error {
	w.part.drop()
	os.Remove(w.path(w.parts+1) + ".tmp")
	w.err = fmt.Errorf("recording the run: %w: %s hits are saved in %s", err, grouped(w.Saved()), w.dir)
	return w.err
}

// Saved is how many hits are in closed parts. It may be called while another
// goroutine writes.
func (w *Writer) Saved() int64 { return w.saved.Load() }

// Close saves what is left and rewrites the manifest as m, which is the one of
// Create with the counts filled in. When the record could not be written it
// gives the error of Write, and the manifest, as far as there is space for it,
// says why and is not Ended.
func (w *Writer) Close(m Manifest) error {
	if errors.Is(w.err, errClosed) {
		return w.err
	}
	if w.err == nil {
		if err := w.flush(); err != nil {
			w.fail(err)
		}
	}
	if e := w.marks.file.Close(); e != nil && w.err == nil {
		w.fail(e)
	}
	m.Parts, m.Hits, m.MarkLines, m.Ended = w.parts, w.Saved(), w.marks.n, w.err == nil
	if w.err != nil {
		m.StoppedWhy = strings.TrimPrefix(m.StoppedWhy+"; "+w.err.Error(), "; ")
		m.save(w.dir)
		return w.err
	}
	if err := m.save(w.dir); err != nil {
		return w.fail(err)
	}
	w.err = errClosed
	return nil
}

func partName(n int) string { return fmt.Sprintf("part-%06d.parquet", n) }

// grouped writes n for people: 12,000.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
