package report

import (
	"strings"

	"github.com/ratehammer/ratehammer/results"
)

// Strip is the timeline of a run in so few columns that it fits on a line. It
// is built while the record goes by, whose length is not known yet: when it is
// full, two columns become one.
type Strip struct {
	width int64 // nanoseconds of a column
	last  int   // the last column in use
	rows  [4][stripColumns]int64
}

const (
	stripColumns = 512
	stripStart   = 1_000_000 // nanoseconds of a column at first
)

// NewStrip is an empty timeline.
func NewStrip() *Strip { return &Strip{width: stripStart} }

// Block adds a piece of the record.
func (s *Strip) Block(b results.Block) {
	for i := range b.Hits {
		h := &b.Hits[i]
		for h.Sent/s.width >= stripColumns {
			s.halve()
		}
		c := int(max(0, h.Sent) / s.width)
		s.last = max(s.last, c)
		s.rows[h.Outcome&3][c]++
	}
}

func (s *Strip) halve() {
	for r := range s.rows {
		row := &s.rows[r]
		for c := range stripColumns / 2 {
			row[c] = row[2*c] + row[2*c+1]
		}
		clear(row[stripColumns/2:])
	}
	s.width *= 2
	s.last /= 2
}

// line is one outcome's row in at most columns columns, each as high as the
// fullest column of all rows is high.
func (s *Strip) line(o results.Outcome, columns int, ramp []rune) string {
	most := int64(0)
	for _, row := range s.rows {
		for _, n := range squeeze(row[:s.last+1], columns) {
			most = max(most, n)
		}
	}
	var out strings.Builder
	for _, n := range squeeze(s.rows[o][:s.last+1], columns) {
		level := 0
		if n > 0 {
			level = 1 + int((n*int64(len(ramp)-1)-1)/most)
		}
		out.WriteRune(ramp[min(level, len(ramp)-1)])
	}
	return out.String()
}

// seen reports whether an outcome came up at all.
func (s *Strip) seen(o results.Outcome) bool {
	for _, n := range s.rows[o] {
		if n > 0 {
			return true
		}
	}
	return false
}

// squeeze adds neighbours up until the row has at most columns columns.
func squeeze(row []int64, columns int) []int64 {
	if len(row) <= columns {
		return row
	}
	out := make([]int64, columns)
	for i, n := range row {
		out[i*columns/len(row)] += n
	}
	return out
}
