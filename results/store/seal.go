package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// A part is sealed by a checksum of all its bytes. Parquet's own checksums
// cover the pages and neither their headers nor the footer, where one wrong
// bit can give other hits, or a Low that is not true, without an error.
//
// The seal stands in the footer's metadata, hence inside of what it covers: it
// is reckoned with its eight digits blank, and they are filled in afterwards.
const (
	sealKey   = "ratehammer.seal"
	sealMark  = "crc32c:" // so that the digits can be found without reading the footer
	sealBlank = "--------"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sealer passes a part on to its file and fills the seal in at the end.
type sealer struct {
	to   io.Writer
	crc  uint32
	held *bytes.Buffer // nil: pass on; else the end of the file, with the seal in it
}

func (s *sealer) Write(b []byte) (int, error) {
	s.crc = crc32.Update(s.crc, castagnoli, b)
	if s.held != nil {
		return s.held.Write(b)
	}
	return s.to.Write(b)
}

// hold keeps back what follows, so that the seal can still be filled in.
func (s *sealer) hold() { s.held = new(bytes.Buffer) }

func (s *sealer) finish() error {
	b := s.held.Bytes()
	digits, err := sealDigits(b)
	if err != nil {
		return err
	}
	copy(digits, fmt.Sprintf("%08x", s.crc))
	_, err = s.to.Write(b)
	return err
}

// sealDigits is where the digits of the seal are in the end of a part.
func sealDigits(end []byte) ([]byte, error) {
	i := bytes.LastIndex(end, []byte(sealMark))
	if i < 0 || len(end) < i+len(sealMark)+len(sealBlank) {
		return nil, errors.New("it has no checksum")
	}
	i += len(sealMark)
	return end[i : i+len(sealBlank)], nil
}

// checkSeal reads the whole file and compares.
func checkSeal(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	footer, err := readFooter(f, info.Size())
	if err != nil {
		return err
	}
	digits, err := sealDigits(footer)
	if err != nil {
		return err
	}
	want := string(digits)
	copy(digits, sealBlank)
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, info.Size()-int64(len(footer)))); err != nil {
		return err
	}
	sum.Write(footer)
	if got := fmt.Sprintf("%08x", sum.Sum32()); got != want {
		return fmt.Errorf("its checksum is %s and not %s", got, want)
	}
	return nil
}

// readFooter gives the end of a Parquet file: the footer, its length in four
// bytes, and the magic number.
func readFooter(f io.ReaderAt, size int64) ([]byte, error) {
	cut := errors.New("its end is missing")
	var end [8]byte
	if size < int64(len(end)) {
		return nil, cut
	}
	if _, err := f.ReadAt(end[:], size-int64(len(end))); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(end[:])) + int64(len(end))
	if string(end[4:]) != "PAR1" || n > size {
		return nil, cut
	}
	footer := make([]byte, n)
	_, err := f.ReadAt(footer, size-n)
	return footer, err
}
