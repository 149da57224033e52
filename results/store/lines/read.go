package lines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/ratehammer/ratehammer/results"
)

// lineMax bounds a line, in bytes.
const lineMax = 1 << 20

// Read reads a record, whose name is for errors: they give it with the line, as
// name:line. Empty lines are skipped. The hits are in the order of the lines,
// which need not be that of their ends.
func Read(r io.Reader, name string) (Header, []results.Hit, error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, lineMax)
	rd := reader{seqs: map[int64]int{}}
	for s.Scan() {
		rd.line++
		text := bytes.TrimSpace(s.Bytes())
		if len(text) == 0 {
			continue
		}
		if err := rd.read(text); err != nil {
			return Header{}, nil, fmt.Errorf("%s:%d: %w", name, rd.line, err)
		}
	}
	if err := s.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("the line is longer than %d bytes", lineMax)
		}
		return Header{}, nil, fmt.Errorf("%s:%d: %w", name, rd.line+1, err)
	}
	if !rd.begun {
		return Header{}, nil, fmt.Errorf("%s: there is nothing in it, not even the header: begin with a line such as %s", name, headerExample)
	}
	return rd.header, rd.hits, nil
}

// reader is what has been read so far.
type reader struct {
	line   int
	begun  bool // the header has been read
	header Header
	hits   []results.Hit
	seqs   map[int64]int // line of each
}

func (r *reader) read(text []byte) error {
	if !r.begun {
		r.begun = true
		if err := decode(text, &r.header); err != nil {
			return fmt.Errorf("the first line is the header, such as %s: %w", headerExample, err)
		}
		return nil
	}
	var l line
	if err := decode(text, &l); err != nil {
		return fmt.Errorf("%w: a hit is written as %s", err, hitExample)
	}
	h, err := l.hit(int64(len(r.hits) + 1))
	if err != nil {
		return err
	}
	if before, ok := r.seqs[h.Seq]; ok {
		return fmt.Errorf("seq %d is that of line %d already", h.Seq, before)
	}
	r.seqs[h.Seq] = r.line
	r.hits = append(r.hits, h)
	return nil
}

// decode reads one JSON object that has no fields but those of v.
func decode(text []byte, v any) error {
	if text[0] != '{' {
		return errors.New("a JSON object is needed, in one line")
	}
	if !utf8.Valid(text) {
		return errors.New("it is not UTF-8, which JSON is written in")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s is a %s where a %v is needed", wrong.Field, wrong.Value, wrong.Type)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON object is cut")
	case err != nil:
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON object")
	}
	return nil
}
