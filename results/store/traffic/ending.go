package traffic

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"

	"github.com/ratehammer/ratehammer/results"
)

// ending looks at how a file ends that is read through it.
type ending struct {
	from  io.Reader
	lines int64 // so many are whole, with their newline
	last  byte
	ended bool // at its end, and not at an error
}

// Read reads on, and looks at what comes by.
func (e *ending) Read(p []byte) (int, error) {
	n, err := e.from.Read(p)
	if n > 0 {
		e.lines += int64(bytes.Count(p[:n], []byte("\n")))
		e.last = p[n-1]
	}
	e.ended = err == io.EOF
	return n, err
}

// cuts reports whether the file has ended within a line: who wrote it was killed,
// or it was copied while it was written. A row of CSV that begins before its last
// line is not cut: a quote that was never closed swallows any number of rows.
func (e *ending) cuts(line int64) bool {
	return e.ended && e.last != '\n' && line == e.lines+1
}

// badRow is what becomes of a row that cannot be read; with line 0 its error says
// where it is.
func (b *builder) badRow(e *ending, dec *csv.Reader, line int64, err error) error {
	whole := at(line, err)
	var parse *csv.ParseError
	if errors.As(err, &parse) && line == 0 {
		line = int64(parse.StartLine)
	}
	if _, next := dec.Read(); next == io.EOF && e.cuts(line) {
		return b.leaveOut(line, whole)
	}
	return whole
}

// leaveOut passes over the last line, which is cut, and says so. The request that
// it told of may have taken the token that another one was refused for: it ended
// behind all that are on record, and began up to Longest before. Where nothing else
// could be read the cut is not what is wrong, and the error stays.
func (b *builder) leaveOut(line int64, err error) error {
	if len(b.rec.Hits) == 0 {
		return err
	}
	end := b.base
	for _, h := range b.rec.Hits {
		end = max(end, h.Done)
	}
	b.rec.Marks = append(b.rec.Marks, results.Mark{At: max(b.base, end-int64(b.opts.Longest)), To: results.Never, Kind: results.MarkLost, Text: "the last line of the source is cut"})
	b.note("line %d, the last, is left out: it is cut, without a newline at its end; too little is not asked for in the %v before it (--longest)", line, b.opts.Longest)
	return nil
}
