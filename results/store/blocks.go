package store

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"github.com/parquet-go/parquet-go"

	"github.com/ratehammer/ratehammer/results"
)

// blockMax is the most hits, and the most marks, of a block that is read.
const blockMax = 8192

// Blocks is the record in the order in which it was written. Every error is of
// type Damage and stands in the place of what is lost: a loop that stops there judges nothing
// by a record with holes, and a loop that goes on is given all that can still
// be read. A run that has not ended closes with a Damage for its tail.
//
// The blocks are not those that were written: the marks of a part come before
// its hits, and inside a part Low is that of the part before. A block is the
// caller's to keep.
func (r *Run) Blocks() iter.Seq2[results.Block, error] {
	return func(yield func(results.Block, error) bool) {
		r.damage = nil
		p := pass{run: r, yield: yield}
		p.read()
	}
}

// pass is one reading of a run.
type pass struct {
	run     *Run
	yield   func(results.Block, error) bool
	done    bool // the caller wants no more
	marks   *markReader
	noMarks bool  // there are no more
	low     int64 // Low of the last part that is whole
}

func (p *pass) read() {
	var err error
	p.marks, err = p.run.openMarks()
	defer p.marks.close()
	if err != nil {
		p.noMarks = true
		p.lose(marksName, "cannot be read ("+err.Error()+")", results.Never)
	}
	number := 1
	for i, part := range p.run.parts {
		if part.number > number {
			p.lose(missing(number, part.number-1), "is missing", p.end(i))
		}
		number = part.number + 1
		p.part(i)
		if p.done {
			return
		}
	}
	p.tail(number)
}

// missing names a row of parts.
func missing(from, to int) string {
	name := part{number: from}.name()
	if to > from {
		name += " to " + partName(to)
	}
	return name
}

// end is a moment by which every hit of a part before the one at index i has
// ended: hits are written in the order of their ends, so that is the last end
// in the next part that is whole.
func (p *pass) end(i int) int64 {
	for _, part := range p.run.parts[i:] {
		if part.err == nil {
			return part.high
		}
	}
	return results.Never
}

func (p *pass) part(i int) {
	part := p.run.parts[i]
	err := part.err
	if err == nil {
		p.giveMarks(part.marks)
		err = p.stream(part)
	}
	if err != nil {
		p.lose(part.name(), "is damaged ("+err.Error()+")", p.end(i+1))
	}
	p.low = max(p.low, part.low)
}

// stream gives the hits of one part.
func (p *pass) stream(part part) error {
	f, err := openPart(filepath.Join(p.run.dir, part.name()))
	if err != nil {
		return err
	}
	defer f.close()
	left, texts := part.hits, interner{}
	for _, rows := range f.parquet.RowGroups() {
		if left, err = p.group(rows, texts, left, part); err != nil || p.done {
			return err
		}
	}
	return nil
}

// group gives the hits of one row group, behind which fewer are left of the part.
func (p *pass) group(rows parquet.RowGroup, texts interner, left int64, part part) (int64, error) {
	var g *group
	if err := guard(func() error { g = openGroup(rows, texts); return nil }); err != nil {
		return left, err
	}
	defer g.close()
	for g.left > 0 && !p.done {
		hits := make([]results.Hit, min(g.left, blockMax))
		if err := guard(func() error { return g.read(hits) }); err != nil {
			return left, err
		}
		left -= int64(len(hits))
		p.low = max(p.low, part.lowBehind(part.hits-left))
		p.give(results.Block{Hits: hits, Low: p.low})
	}
	return left, nil
}

// giveMarks gives the marks up to line number upTo; -1: all.
func (p *pass) giveMarks(upTo int64) {
	var marks []results.Mark
	for (p.marks.n < upTo || upTo < 0) && !p.noMarks && !p.done {
		m, err := p.marks.next()
		switch {
		case errors.Is(err, io.EOF):
			p.noMarks = true
			if upTo > 0 {
				p.lose(marksName, fmt.Sprintf("ends behind %d of %d marks", p.marks.n, upTo), results.Never)
			}
		case err != nil:
			p.lose(marksName, err.Error(), results.Never)
		default:
			marks = append(marks, m)
		}
		if len(marks) == blockMax {
			p.give(results.Block{Marks: marks, Low: p.low})
			marks = nil
		}
	}
	if len(marks) > 0 {
		p.give(results.Block{Marks: marks, Low: p.low})
	}
}

// tail gives what lies behind the last part, and says what should be there.
func (p *pass) tail(number int) {
	m := p.run.Manifest
	if !m.Ended {
		p.giveMarks(-1)
		p.lose(manifestName, "says that the run has not ended", results.Never)
		return
	}
	if m.Parts >= number {
		p.lose(missing(number, m.Parts), "is missing", results.Never)
	}
	p.giveMarks(m.MarkLines)
}

func (p *pass) give(b results.Block) {
	p.done = p.done || !p.yield(b, nil)
}

// lose says that from p.low to that moment the record has a hole.
func (p *pass) lose(name, text string, to int64) {
	if p.done {
		return
	}
	d := Damage{File: name, Text: text, From: p.low, To: to}
	p.run.damage = append(p.run.damage, d)
	p.done = !p.yield(results.Block{}, d)
}
