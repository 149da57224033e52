package wire

import (
	"bytes"
	"fmt"
)

// Head is the head of an answer. Its bytes are valid until the call that shows it
// returns.
type Head struct {
	Status int
	Minor  int    // of HTTP/1.x, 0 or 1
	Fields []byte // the lines behind the first one, without the empty line, each with its end
	Close  bool   // no request may follow on this connection
	Length int64  // of the body in bytes; chunked and untilClose are below 0
	Again  bool   // it is the same, byte for byte, as the one that was shown before it
}

// The lengths that are no numbers.
const (
	chunked    = -1 // it comes in chunks
	untilClose = -2 // it ends where the connection does
)

// maxHead is how long a head may be, in bytes.
const maxHead = 64 << 10

var (
	errHead  = fmt.Errorf("%w: the head is longer than %d bytes", ErrMalformed, maxHead)
	errFirst = fmt.Errorf("%w: it does not begin with HTTP/1.0 or HTTP/1.1 and a status", ErrMalformed)
	errField = fmt.Errorf("%w: a line of the head is no field", ErrMalformed)
	errBody  = fmt.Errorf("%w: the length of the body is not said in a way that can be relied on", ErrMalformed)
	errChunk = fmt.Errorf("%w: a chunk of the body does not begin or end as chunks do", ErrMalformed)
)

// headEnd is the length of the head that p begins with, its empty line included; 0:
// not all of it is there. Up to from p was looked through before.
func headEnd(p []byte, from int) int {
	for i := max(0, from-2); ; {
		n := bytes.IndexByte(p[i:], '\n')
		if n < 0 {
			return 0
		}
		i += n + 1
		switch rest := p[i:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return i + 1
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return i + 2
		}
	}
}

// readHead reads a whole head, as headEnd has found it. asked is whether the answer
// is one to HEAD, which has no body whatever its head says.
func readHead(p []byte, asked bool) (h Head, err error) {
	line, rest := cutLine(p)
	if h.Status, h.Minor, err = firstLine(line); err != nil {
		return h, err
	}
	h.Fields = rest
	h.Length = untilClose
	coded, close, keep := false, false, false
	for {
		line, rest = cutLine(rest)
		if len(line) == 0 {
			break
		}
		name, value, ok := field(line)
		if !ok {
			return h, errField
		}
		switch len(name) {
		case len("Connection"):
			if equalFold(name, "connection") {
				close, keep = close || among(value, "close"), keep || among(value, "keep-alive")
			}
		case len("Content-Length"):
			if equalFold(name, "content-length") && !h.length(value) {
				return h, errBody
			}
		case len("Transfer-Encoding"):
			if equalFold(name, "transfer-encoding") {
				if coded || h.Minor == 0 || !equalFold(value, "chunked") {
					return h, errBody
				}
				coded = true
			}
		}
	}
	h.Fields = h.Fields[:len(h.Fields)-len(rest)]
	h.Close = close || h.Minor == 0 && !keep
	h.frame(coded, asked)
	return h, nil
}

// frame settles where the body ends (RFC 9112, section 6.3).
func (h *Head) frame(coded, asked bool) {
	switch {
	case asked, h.Status == 204, h.Status == 304, h.Status < 200:
		h.Length = 0
	case coded:
		h.Length = chunked
	case h.Length == untilClose:
		h.Close = true
	}
	if h.Status == 101 {
		h.Close = true // what follows is not HTTP
	}
}

// interim reports whether the answer proper is still to come.
func (h *Head) interim() bool { return h.Status < 200 && h.Status != 101 }

// cutLine is the first line of p without its end, and what is behind it.
func cutLine(p []byte) (line, rest []byte) {
	i := bytes.IndexByte(p, '\n')
	if i < 0 {
		return p, nil
	}
	line, rest = p[:i], p[i+1:]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, rest
}

// firstLine reads "HTTP/1.1 200 OK".
func firstLine(p []byte) (status, minor int, err error) {
	const before = len("HTTP/1.1 ")
	if len(p) < before+3 || string(p[:7]) != "HTTP/1." || p[7] != '0' && p[7] != '1' || p[8] != ' ' {
		return 0, 0, errFirst
	}
	for _, c := range p[before : before+3] {
		if c < '0' || c > '9' {
			return 0, 0, errFirst
		}
		status = status*10 + int(c-'0')
	}
	if status < 100 || len(p) > before+3 && p[before+3] != ' ' {
		return 0, 0, errFirst
	}
	return status, int(p[7] - '0'), nil
}

// field splits a line into a field's name and value. A line that goes on the one
// before it is none: nobody should send it any more (RFC 9112, section 5.2).
func field(line []byte) (name, value []byte, ok bool) {
	i := bytes.IndexByte(line, ':')
	if i < 1 {
		return nil, nil, false
	}
	for _, c := range line[:i] {
		if !tokens[c] {
			return nil, nil, false
		}
	}
	value = trim(line[i+1:])
	for _, c := range value {
		if control(c) {
			return nil, nil, false
		}
	}
	return line[:i], value, true
}

// control reports whether a byte may not be in a field's value.
func control(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f }

// Next splits the first of a head's fields off: fields is Head.Fields, or the rest that
// the call before gave. ok is false where there is none.
func Next(fields []byte) (name, value, rest []byte, ok bool) {
	line, rest := cutLine(fields)
	name, value, ok = field(line)
	return name, value, rest, ok
}

func trim(p []byte) []byte {
	for len(p) > 0 && (p[0] == ' ' || p[0] == '\t') {
		p = p[1:]
	}
	for len(p) > 0 && (p[len(p)-1] == ' ' || p[len(p)-1] == '\t') {
		p = p[:len(p)-1]
	}
	return p
}

// length takes in a Content-Length, and is false where it is no number or another
// one than was said before.
func (h *Head) length(p []byte) bool {
	if len(p) == 0 || len(p) > 18 {
		return false
	}
	n := int64(0)
	for _, c := range p {
		if c < '0' || c > '9' {
			return false
		}
		n = n*10 + int64(c-'0')
	}
	if h.Length != untilClose && h.Length != n {
		return false
	}
	h.Length = n
	return true
}

// among reports whether a word is in a list of words with commas between them.
func among(list []byte, lower string) bool {
	for len(list) > 0 {
		word, rest, _ := bytes.Cut(list, []byte{','})
		if equalFold(trim(word), lower) {
			return true
		}
		list = rest
	}
	return false
}

// equalFold compares with a text of lower-case letters and hyphens.
func equalFold(p []byte, lower string) bool {
	if len(p) != len(lower) {
		return false
	}
	for i, c := range p {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// tokens are the bytes that a field's name is made of (RFC 9110, section 5.6.2).
var tokens = func() (t [256]bool) {
	for c := range 256 {
		t[c] = '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), byte(c)) >= 0
	}
	return t
}()
