package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// What a record in one file carries beside a part's own metadata.
const (
	manifestKey = "ratehammer.manifest" // manifest.json
	marksText   = "ratehammer.marks_jsonl"
	stepsKey    = "ratehammer.steps" // ROWS:LOW,...: behind so many rows no hit was sent before that moment
)

// step says how far back later hits reach, behind so many rows of a file.
type step struct{ rows, low int64 }

// WriteFile puts the record, its marks and its manifest into one Parquet file,
// which OpenFile opens and which other tools read as they read a part. It
// refuses to overwrite a file. A record with holes is not written: in one file
// they could not be told from what was never there.
func (r *Run) WriteFile(path string) error {
	f, err := createFile(path)
	if err != nil {
		return err
	}
	w := newPartWriter()
	w.begin(f)
	if err = r.writeSingle(w); err == nil {
		err = w.end(w.lastLow, 0)
	}
	if err != nil {
		w.drop()
		os.Remove(path)
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

func (r *Run) writeSingle(w *partWriter) error {
	var marks bytes.Buffer
	var steps []step
	enc := json.NewEncoder(&marks)
	for b, err := range r.Blocks() {
		if err != nil {
			return err
		}
		for _, m := range b.Marks {
			if err := enc.Encode(m); err != nil {
				return err
			}
		}
		if err := w.add(b.Hits); err != nil {
			return err
		}
		w.lastLow = max(w.lastLow, b.Low)
		if n := int64(w.hits); n-rowsOf(steps) >= partHits {
			if err := w.enc.Flush(); err != nil {
				return err
			}
			steps = append(steps, step{n, w.lastLow})
		}
	}
	m := r.Manifest
	m.Parts, m.Hits = 1, int64(w.hits)
	manifest, err := json.Marshal(m)
	if err != nil {
		return err
	}
	w.enc.SetKeyValueMetadata(manifestKey, string(manifest))
	w.enc.SetKeyValueMetadata(marksText, marks.String())
	w.enc.SetKeyValueMetadata(stepsKey, stepsString(steps))
	return nil
}

func rowsOf(steps []step) int64 {
	if len(steps) == 0 {
		return 0
	}
	return steps[len(steps)-1].rows
}

func stepsString(steps []step) string {
	var texts []string
	for _, s := range steps {
		texts = append(texts, fmt.Sprintf("%d:%d", s.rows, s.low))
	}
	return strings.Join(texts, ",")
}

func parseSteps(s string) (steps []step, err error) {
	if s == "" {
		return nil, nil
	}
	for text := range strings.SplitSeq(s, ",") {
		a, b, _ := strings.Cut(text, ":")
		rows, err1 := strconv.ParseInt(a, 10, 64)
		low, err2 := strconv.ParseInt(b, 10, 64)
		if err1 != nil || err2 != nil || rows <= rowsOf(steps) {
			return nil, fmt.Errorf("its footer has %q for %s", s, stepsKey)
		}
		steps = append(steps, step{rows, low})
	}
	return steps, nil
}

// OpenFile opens a record in one file, which WriteFile wrote.
func OpenFile(path string) (*Run, error) {
	f, err := openPart(path)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	defer f.close()
	text, ok := f.parquet.Lookup(manifestKey)
	if !ok {
		return nil, fmt.Errorf("opening %s: it is a part of a run and carries no promise: give the run's folder", path)
	}
	r := &Run{dir: filepath.Dir(path)}
	if err := json.Unmarshal([]byte(text), &r.Manifest); err != nil {
		return nil, fmt.Errorf("opening %s: its manifest is damaged (%w)", path, err)
	}
	if err := r.Manifest.check(); err != nil {
		return nil, fmt.Errorf("opening %s: its %w", path, err)
	}
	p := part{number: 1, file: path}
	if p.err = p.inspect(r.dir); p.err == nil {
		steps, _ := f.parquet.Lookup(stepsKey)
		p.steps, p.err = parseSteps(steps)
	}
	marks, _ := f.parquet.Lookup(marksText)
	p.marks = int64(strings.Count(marks, "\n"))
	r.Manifest.MarkLines, r.single = p.marks, &marks
	r.parts = []part{p}
	return r, nil
}

// openMarks opens the marks of the run, wherever they are.
func (r *Run) openMarks() (*markReader, error) {
	if r.single != nil {
		return &markReader{buf: bufio.NewReader(strings.NewReader(*r.single))}, nil
	}
	return openMarks(filepath.Join(r.dir, marksName))
}

// lowBehind is how far back later hits reach, behind so many of the part's rows.
func (p part) lowBehind(rows int64) int64 {
	if rows == p.hits {
		return p.low
	}
	i, found := slices.BinarySearchFunc(p.steps, rows, func(s step, n int64) int { return int(s.rows - n) })
	switch {
	case found:
		return p.steps[i].low
	case i > 0:
		return p.steps[i-1].low
	}
	return 0
}

// Latency is the run's latency.hlog; the error is that of reading it.
func (r *Run) Latency() ([]byte, error) {
	if r.single != nil {
		return nil, fmt.Errorf("a record in one file has no %s", latencyName)
	}
	return os.ReadFile(filepath.Join(r.dir, latencyName))
}
