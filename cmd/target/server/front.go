package server

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// front is what a server checks beside the limit: in front of the limiter, and
// between the limiter and the work.
type front interface {
	// before reads the whole request. It gives the answer to one that does not
	// get to the limiter, or nil.
	before(w http.ResponseWriter, r *http.Request) *answer
	// enter takes a place for a request that the limiter has admitted. It gives
	// the answer to one that gets no place, or nil. It is called in the critical
	// section of the decision and must not wait.
	enter() *answer
	// work does what was asked for, and gives the place back.
	work(ctx context.Context)
}

// frontKind is one mode of a server that can be named.
type frontKind struct {
	mode.Doc
	build func(*mode.Reader) (front, error)
}

func frontKinds() []frontKind {
	return []frontKind{
		plainKind(),
		orderKind(),
	}
}

func newFront(m mode.Mode) (front, error) {
	for _, k := range frontKinds() {
		if k.Name == m.Name {
			return k.build(m.Read(k.Example))
		}
	}
	return nil, mode.Unknown("mode", m.Name, Modes())
}

// Modes describes what a server can check beside the limit.
func Modes() []mode.Doc {
	var docs []mode.Doc
	for _, k := range frontKinds() {
		docs = append(docs, k.Doc)
	}
	return docs
}

// plainMaxBody is what a plain server reads of a body, in bytes.
const plainMaxBody = 1 << 20

func plainKind() frontKind {
	return frontKind{
		Doc: mode.Doc{
			Name:    "plain",
			Example: "plain",
			Text:    "Every path is limited and answers 200; a body is read and ignored, one over 1 MiB is answered 413 and spends no token.",
		},
		build: func(r *mode.Reader) (front, error) {
			return plain{tooLarge: tooLarge(plainMaxBody), broken: broken()}, r.Done()
		},
	}
}

// plain checks nothing but the limit.
type plain struct{ tooLarge, broken *answer }

func (p plain) before(w http.ResponseWriter, r *http.Request) *answer {
	if r.Body == http.NoBody {
		return nil
	}
	_, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, plainMaxBody))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return p.tooLarge
	case err != nil:
		return p.broken
	}
	return nil
}

func (p plain) enter() *answer { return nil }

func (p plain) work(context.Context) {}
