package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Run is a run folder that was opened for reading.
type Run struct {
	Manifest Manifest
	dir      string
	parts    []part // in their order
	damage   []Damage
	single   *string // the marks of a record in one file; nil: it is a folder
}

// part is what one file of the timeline says of itself.
type part struct {
	number    int
	hits      int64
	low, high int64  // as lowKey and highKey
	marks     int64  // as marksKey
	err       error  // what is wrong with the file; nil: nothing
	file      string // of a record in one file; empty: it has the name of its number
	steps     []step // of such a file
}

// name is the part's file inside the run's folder.
func (p part) name() string {
	if p.file != "" {
		return filepath.Base(p.file)
	}
	return path.Join(timelineName, partName(p.number))
}

// Open reads the manifest of a run and checks that each of its parts is whole. A run that is still
// being written can be opened: it has the parts that are closed by now. The
// error is ErrNoRun when there is no manifest.
func Open(dir string) (*Run, error) {
	// The manifest comes first: when it says that the run has ended, every
	// part was there before it.
	m, err := loadManifest(dir)
	if e := m.check(); e != nil {
		return nil, fmt.Errorf("opening the run: %s %w", dir, e)
	}
	parts, listErr := listParts(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the run: %s %w%s", dir, err, salvage(parts))
	}
	if listErr != nil {
		return nil, fmt.Errorf("opening the run: %w", listErr)
	}
	return &Run{Manifest: m, dir: dir, parts: parts}, nil
}

// salvage says what is left of a run whose manifest cannot be used.
func salvage(parts []part) string {
	if len(parts) == 0 {
		return ""
	}
	r := Run{parts: parts}
	return fmt.Sprintf("; %s is there with %d parts and %s hits, but only the manifest says what was promised: put it back from a copy of the folder",
		timelineName, len(parts), grouped(r.Hits()))
}

// Hits is how many hits the parts hold that are whole.
func (r *Run) Hits() int64 {
	var n int64
	for _, p := range r.parts {
		n += p.hits
	}
	return n
}

// Damage is what the last pass over Blocks could not read, in the order met.
func (r *Run) Damage() []Damage { return slices.Clone(r.damage) }

// listParts looks at all parts. No timeline is no parts.
func listParts(dir string) ([]part, error) {
	entries, err := os.ReadDir(filepath.Join(dir, timelineName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var parts []part
	for _, e := range entries {
		if n, ok := partNumber(e.Name()); ok {
			p := part{number: n}
			p.err = p.inspect(dir)
			parts = append(parts, p)
		}
	}
	// The names sort as the numbers do only up to six digits.
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.number, b.number) })
	return parts, err
}

// partNumber reads a name that partName gives. Whatever else lies in the
// folder, such as the part being written, is not part of the record.
func partNumber(name string) (int, bool) {
	s, ok := strings.CutPrefix(name, "part-")
	s, ok2 := strings.CutSuffix(s, ".parquet")
	n, err := strconv.Atoi(s)
	return n, ok && ok2 && err == nil && n > 0 && partName(n) == name
}

// inspect reads what the file says of itself.
func (p *part) inspect(dir string) error {
	f, err := openPart(filepath.Join(dir, p.name()))
	if err != nil {
		return err
	}
	defer f.close()
	for _, field := range []struct {
		key string
		to  *int64
	}{{lowKey, &p.low}, {highKey, &p.high}, {marksKey, &p.marks}} {
		if *field.to, err = f.number(field.key); err != nil {
			return err
		}
	}
	p.hits = f.parquet.NumRows()
	return nil
}
