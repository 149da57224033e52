package server

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// costBodies are the ways to read the cost of a request from its body: an array
// of JSON costs as much as it has elements, and any other body 1.
var costBodies = []string{"array"}

// remembered is a body that can be looked at once it has been read.
type remembered struct {
	io.ReadCloser
	text bytes.Buffer
}

func remember(r *http.Request) {
	if r.Body != http.NoBody {
		r.Body = &remembered{ReadCloser: r.Body}
	}
}

func (b *remembered) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.text.Write(p[:n])
	return n, err
}

// operations is how many things a request asks for whose body is remembered.
func operations(r *http.Request) int64 {
	b, ok := r.Body.(*remembered)
	if !ok {
		return 1
	}
	var all []operation
	if json.Unmarshal(b.text.Bytes(), &all) != nil {
		return 1
	}
	return max(1, int64(len(all)))
}

// operation is an element of an array, whatever it is.
type operation struct{}

func (*operation) UnmarshalJSON([]byte) error { return nil }
