package wire

import "bytes"

// answer reads one answer, however it is cut into pieces. The zero answer expects
// the answer to a request that is not HEAD.
type answer struct {
	asked   bool   // the request was HEAD
	headed  bool   // the head is read
	interim bool   // an informational answer (1xx) came before
	close   bool   // as in Head
	part    part   // of the body
	left    int64  // bytes of the body, or of the chunk; untilClose: all that comes
	digits  int    // of the chunk's size so far
	begun   []byte // the beginning of a head whose end has not come
}

// memo is the head that was read last, on any connection of a loop: most answers of
// a server have the very same one until its clock goes on.
type memo struct {
	raw   []byte
	asked bool
	head  Head
}

// part is where in a chunked body an answer is; the zero part is any other body.
type part uint8

const (
	plain     part = iota
	size           // in the digits of a chunk's size
	extension      // behind them
	sizeEnd        // before the line feed that ends them
	data
	dataCR // before the end of a chunk's data
	dataLF
	trailer   // at the beginning of a line behind the last chunk
	trailName // in the name of a field there
	trailing  // in its value
	trailEnd  // before the line feed that ends it
	lastLF    // before the line feed of the empty line that ends all
)

// begin makes ready for the next answer.
func (a *answer) begin(asked bool) {
	*a = answer{asked: asked, begun: a.begun[:0]}
}

// feed takes in what has come. headed is called with each head that is complete,
// informational ones included. done is whether the answer is complete; over is then
// what came behind it.
func (a *answer) feed(p []byte, m *memo, headed func(*Head)) (done bool, over []byte, err error) {
	for !a.headed {
		rest, complete, err := a.head(p, m)
		if err != nil || !complete {
			return false, nil, err
		}
		h := &m.head
		headed(h)
		p, a.begun = rest, a.begun[:0]
		if h.interim() {
			a.interim = true
			continue
		}
		a.headed, a.close, a.left = true, h.Close, h.Length
		if h.Length == chunked {
			a.part, a.left = size, 0
		}
	}
	return a.body(p)
}

// head takes in bytes of a head, and has read it into the memo when it is complete.
func (a *answer) head(p []byte, m *memo) (rest []byte, complete bool, err error) {
	had := len(a.begun)
	if had == 0 && len(m.raw) > 0 && m.asked == a.asked && bytes.HasPrefix(p, m.raw) {
		m.head.Again = true
		return p[len(m.raw):], true, nil
	}
	whole := p
	if had > 0 {
		a.begun = append(a.begun, p...)
		whole = a.begun
	}
	n := headEnd(whole, had)
	switch {
	case n > maxHead || n == 0 && len(whole) > maxHead:
		return nil, false, errHead
	case n == 0:
		if had == 0 {
			a.begun = append(a.begun, p...)
		}
		return nil, false, early(whole)
	}
	m.raw, m.asked = append(m.raw[:0], whole[:n]...), a.asked
	if m.head, err = readHead(m.raw, a.asked); err != nil {
		m.raw = m.raw[:0]
		return nil, false, err
	}
	return p[n-had:], true, nil
}

// early refuses what is no answer before a head has ended that never may.
func early(p []byte) error {
	const begins = "HTTP/1."
	if n := min(len(p), len(begins)); string(p[:n]) != begins[:n] {
		return errFirst
	}
	return nil
}

// body takes in bytes of the body.
func (a *answer) body(p []byte) (done bool, over []byte, err error) {
	if a.part != plain {
		return a.chunks(p)
	}
	switch {
	case a.left == untilClose:
		return false, nil, nil
	case int64(len(p)) < a.left:
		a.left -= int64(len(p))
		return false, nil, nil
	}
	p, a.left = p[a.left:], 0
	return true, p, nil
}

// chunks takes in bytes of a body in chunks (RFC 9112, section 7.1).
func (a *answer) chunks(p []byte) (done bool, over []byte, err error) {
	for len(p) > 0 {
		if a.part == data {
			n := min(a.left, int64(len(p)))
			p, a.left = p[n:], a.left-n
			if a.left == 0 {
				a.part = dataCR
			}
			continue
		}
		c := p[0]
		p = p[1:]
		if !a.step(c) {
			return false, nil, errChunk
		}
		if a.part == plain {
			return true, p, nil
		}
	}
	return false, nil, nil
}

// step takes in a byte around the data of chunks, and is false where it does not
// belong there. Behind the last one the part is plain.
func (a *answer) step(c byte) bool {
	switch a.part {
	case size:
		return a.sizeByte(c)
	case extension:
		if c == '\r' {
			a.part = sizeEnd
		}
		return c != '\n'
	case sizeEnd:
		a.part, a.digits = data, 0
		if a.left == 0 {
			a.part = trailer
		}
		return c == '\n'
	case dataCR:
		a.part = dataLF
		return c == '\r'
	case dataLF:
		a.part = size
		return c == '\n'
	case trailer:
		if c == '\r' {
			a.part = lastLF
			return true
		}
		a.part = trailName
		return tokens[c]
	case trailName:
		if c == ':' {
			a.part = trailing
			return true
		}
		return tokens[c]
	case trailing:
		if c == '\r' {
			a.part = trailEnd
			return true
		}
		return !control(c)
	case trailEnd:
		a.part = trailer
		return c == '\n'
	case lastLF:
		a.part = plain
		return c == '\n'
	}
	return false
}

func (a *answer) sizeByte(c byte) bool {
	d := int64(-1)
	switch {
	case '0' <= c && c <= '9':
		d = int64(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		d = int64(c|0x20-'a') + 10
	}
	switch {
	case d >= 0:
		a.left = a.left<<4 | d
		a.digits++
		return a.digits <= 15
	case a.digits == 0:
		return false
	case c == '\r':
		a.part = sizeEnd
	case c == ';', c == ' ', c == '\t':
		a.part = extension
	default:
		return false
	}
	return true
}

// ended is told that the connection has ended, and reports whether the answer is
// complete by that.
func (a *answer) ended() bool { return a.headed && a.part == plain && a.left == untilClose }
