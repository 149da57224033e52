package traffic

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// lineMax bounds a line, in bytes.
const lineMax = 4 << 20

// eachLine gives the lines that are not empty, without the space around them. A
// last one that is cut is left out.
func (b *builder) eachLine(r io.Reader, f func(line int64, text []byte) error) error {
	e := &ending{from: r}
	s := bufio.NewScanner(e)
	s.Buffer(nil, lineMax)
	n := int64(0)
	for s.Scan() {
		n++
		text := bytes.TrimSpace(s.Bytes())
		if n == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		if len(text) == 0 {
			continue
		}
		err := f(n, text)
		if err == nil {
			continue
		}
		if !s.Scan() && e.cuts(n) {
			return b.leaveOut(n, at(n, err))
		}
		return at(n, err)
	}
	err := s.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("the line is longer than %d bytes", lineMax)
	}
	if err != nil {
		return at(n+1, err)
	}
	return nil
}
