package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ratehammer/ratehammer/results"
)

// markWriter appends marks to marks.jsonl.
type markWriter struct {
	file file
	buf  *bufio.Writer
	n    int64 // lines written
	open int   // of them, not yet synced
}

func newMarkWriter(f file) *markWriter {
	return &markWriter{file: f, buf: bufio.NewWriterSize(f, 64<<10)}
}

func (w *markWriter) add(marks []results.Mark) error {
	for _, m := range marks {
		line, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if _, err := w.buf.Write(append(line, '\n')); err != nil {
			return err
		}
		w.n++
		w.open++
	}
	return nil
}

func (w *markWriter) flush() error {
	if w.open == 0 {
		return nil
	}
	if err := w.buf.Flush(); err != nil {
		return err
	}
	w.open = 0
	return w.file.Sync()
}

// markReader reads marks.jsonl line by line.
type markReader struct {
	file *os.File // nil: there is none
	buf  *bufio.Reader
	n    int64 // lines read, whole or not
}

func openMarks(path string) (*markReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return &markReader{}, err
	}
	return &markReader{file: f, buf: bufio.NewReaderSize(f, 64<<10)}, nil
}

// next gives the next mark, io.EOF behind the last one, or what is wrong with
// the line; the one after it can be asked for all the same.
func (r *markReader) next() (results.Mark, error) {
	var m results.Mark
	line, err := r.buf.ReadBytes('\n')
	if len(bytes.TrimSpace(line)) == 0 && err != nil {
		return m, err
	}
	r.n++
	if e := json.Unmarshal(line, &m); e != nil {
		if errors.Is(err, io.EOF) {
			return m, fmt.Errorf("line %d, the last one, is cut", r.n)
		}
		return m, fmt.Errorf("line %d is damaged (%w)", r.n, e)
	}
	return m, nil
}

func (r *markReader) close() {
	if r.file != nil {
		r.file.Close()
	}
}
