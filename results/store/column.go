package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/ratehammer/ratehammer/results"
)

// readBuffer is how much of a column is read from the disk at once.
const readBuffer = 64 << 10

// partFile is a part that is open for reading.
type partFile struct {
	file    *os.File
	parquet *parquet.File
}

// openPart opens a part that is whole; of any other it says what is wrong.
func openPart(path string) (*partFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &partFile{file: f}
	if err := guard(p.open); err != nil {
		f.Close()
		return nil, err
	}
	return p, nil
}

func (p *partFile) open() error {
	if err := checkSeal(p.file); err != nil {
		return err
	}
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	p.parquet, err = parquet.OpenFile(p.file, info.Size(),
		parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(readBuffer))
	if err != nil {
		return err
	}
	if !parquet.EqualNodes(p.parquet.Schema(), parquet.SchemaOf(row{})) {
		return errors.New("its columns are not those of a part")
	}
	return nil
}

func (p *partFile) close() { p.file.Close() }

// number reads one of the part's own keys.
func (p *partFile) number(key string) (int64, error) {
	s, _ := p.parquet.Lookup(key)
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("its footer has no %s", key)
	}
	return n, nil
}

// guard turns a panic of the Parquet library into an error: it trusts what a
// file says of itself, and one part must not take the others with it.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return f()
}

// group reads one row group, all columns in step.
type group struct {
	columns []column
	left    int64 // rows not read yet
	values  []parquet.Value
	texts   interner
}

// column is a place in one column of a row group.
type column struct {
	pages  parquet.Pages
	page   parquet.Page        // nil: none is open
	values parquet.ValueReader // of page
}

func openGroup(g parquet.RowGroup, texts interner) *group {
	r := &group{left: g.NumRows(), values: make([]parquet.Value, rowBuffer), texts: texts}
	for _, c := range g.ColumnChunks() {
		r.columns = append(r.columns, column{pages: c.Pages()})
	}
	return r
}

// read fills hits with the next rows, of which there must be so many.
func (g *group) read(hits []results.Hit) error {
	for i := range g.columns {
		if err := g.fill(&g.columns[i], hits, cells[i]); err != nil {
			return err
		}
	}
	g.left -= int64(len(hits))
	return nil
}

func (g *group) fill(c *column, hits []results.Hit, set cell) error {
	for len(hits) > 0 {
		n, err := c.next(g.values[:min(len(hits), len(g.values))])
		if err != nil {
			return err
		}
		for i := range n {
			if err := set(&hits[i], g.values[i], g.texts); err != nil {
				return err
			}
		}
		hits = hits[n:]
	}
	return nil
}

// next reads up to len(values) values, and at least one. They live until the
// call after it.
func (c *column) next(values []parquet.Value) (int, error) {
	for {
		if c.page == nil {
			page, err := c.pages.ReadPage()
			if errors.Is(err, io.EOF) {
				return 0, io.ErrUnexpectedEOF
			}
			if err != nil {
				return 0, err
			}
			c.page, c.values = page, page.Values()
		}
		n, err := c.values.ReadValues(values)
		if n > 0 {
			return n, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		c.release()
	}
}

func (c *column) release() {
	parquet.Release(c.page)
	c.page, c.values = nil, nil
}

func (g *group) close() {
	for i := range g.columns {
		if g.columns[i].page != nil {
			g.columns[i].release()
		}
		g.columns[i].pages.Close()
	}
}
