package store

import (
	"bufio"
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/ratehammer/ratehammer/results"
)

// Names of what a part says about itself in the key-value metadata of its file.
const (
	lowKey   = "ratehammer.low_ns"  // Block.Low at the end of the part
	highKey  = "ratehammer.high_ns" // latest Done in the part
	marksKey = "ratehammer.marks"   // lines of marks.jsonl that belong to this part and those before
)

const (
	rowBuffer  = 512      // rows handed to the encoder at once
	pageBuffer = 64 << 10 // bytes of a column, before encoding
	groupText  = 16 << 20 // bytes of text after which a row group is closed, which empties the dictionaries
)

// newEncoder has encodings with which a steady run costs 12 to 14 bytes a hit.
// Eight of them are the three clock readings, whose lowest bits are noise.
// Zstandard in place of Snappy saves 0.3 and takes half as long again.
func newEncoder(to io.Writer) *parquet.GenericWriter[row] {
	return parquet.NewGenericWriter[row](to,
		parquet.Compression(&parquet.Snappy),
		parquet.DefaultEncodingFor(parquet.Int64, &parquet.DeltaBinaryPacked),
		parquet.PageBufferSize(pageBuffer),
		parquet.WriteBufferSize(0), // the seal must see each byte before the footer is made
		parquet.DataPageStatistics(false),
		parquet.CreatedBy("ratehammer", strconv.Itoa(Version), ""),
	)
}

// partWriter turns hits into one Parquet file after another.
type partWriter struct {
	enc  *parquet.GenericWriter[row]
	rows [rowBuffer]row
	file file // nil: no part is open
	buf  *bufio.Writer
	seal sealer
	hits int // in the open part
	text int // bytes of text in the open row group
	high int64

	lastLow int64 // of a record in one file
}

func newPartWriter() *partWriter {
	return &partWriter{buf: bufio.NewWriterSize(nil, 64<<10)}
}

// begin starts a part in f, which it owns from then on.
func (p *partWriter) begin(f file) {
	p.file, p.hits, p.text, p.high = f, 0, 0, 0
	p.buf.Reset(f)
	p.seal = sealer{to: p.buf}
	// A new one for each part: Reset of parquet-go 0.32 clears the names by
	// which the column chunks of the next file are looked up.
	p.enc = newEncoder(&p.seal)
}

func (p *partWriter) add(hits []results.Hit) error {
	for len(hits) > 0 {
		n := min(len(hits), rowBuffer)
		if err := p.addRows(hits[:n]); err != nil {
			return err
		}
		hits = hits[n:]
	}
	return nil
}

func (p *partWriter) addRows(hits []results.Hit) error {
	rows := p.rows[:len(hits)]
	for i := range hits {
		h := &hits[i]
		rows[i].set(h)
		p.high = max(p.high, h.Done)
		p.text += len(h.Key) + len(h.Peer) + len(h.RetryAfter) + len(h.Date) + len(h.Headers) + len(h.Err)
	}
	_, err := p.enc.Write(rows)
	clear(rows) // it points into the caller's block
	p.hits += len(hits)
	if err == nil && p.text >= groupText {
		p.text = 0
		err = p.enc.Flush()
	}
	return err
}

// end writes the footer and puts the file on the disk.
func (p *partWriter) end(low, marks int64) error {
	err := p.writeEnd(low, marks)
	if err == nil {
		err = p.buf.Flush()
	}
	if err == nil {
		err = p.file.Sync()
	}
	if e := p.file.Close(); err == nil {
		err = e
	}
	p.file = nil
	return err
}

func (p *partWriter) writeEnd(low, marks int64) error {
	if err := p.enc.Flush(); err != nil {
		return err
	}
	p.seal.hold()
	p.enc.SetKeyValueMetadata(lowKey, strconv.FormatInt(low, 10))
	p.enc.SetKeyValueMetadata(highKey, strconv.FormatInt(p.high, 10))
	p.enc.SetKeyValueMetadata(marksKey, strconv.FormatInt(marks, 10))
	p.enc.SetKeyValueMetadata(sealKey, sealMark+sealBlank)
	if err := p.enc.Close(); err != nil {
		return err
	}
	return p.seal.finish()
}

// drop lets go of a part that could not be written.
func (p *partWriter) drop() {
	if p.file != nil {
		p.file.Close()
		p.file = nil
	}
}
