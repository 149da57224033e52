package server

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// front is what a route checks beside its limits: in front of them, and between
// them and the work.
type front interface {
	// before reads the whole request. It gives the answer to one that fails, or
	// nil, and whether the limits are asked about it all the same.
	before(w http.ResponseWriter, r *http.Request) (a *dialect.Answer, counted bool)
	// enter takes a place for a request that the limits have admitted. It gives
	// the answer to one that gets no place, or nil. It is called where the truth
	// of the decision is settled and must not wait.
	enter() *dialect.Answer
	// work does what was asked for, and gives the place back.
	work(ctx context.Context)
}

// frontKind is one mode of a route that can be named.
type frontKind struct {
	mode.Doc
	exempt []string // paths that are not limited unless the route names its own
	build  func(*mode.Reader) (front, error)
}

func frontKinds() []frontKind {
	return []frontKind{
		plainKind(),
		orderKind(),
	}
}

// findFront gives the mode of a route, of which the zero one is plain.
func findFront(m mode.Mode) (frontKind, mode.Mode, error) {
	if m.IsZero() {
		m = mode.Mode{Name: "plain"}
	}
	for _, k := range frontKinds() {
		if k.Name == m.Name {
			return k, m, nil
		}
	}
	return frontKind{}, m, mode.Unknown("mode", m.Name, Modes())
}

func newFront(m mode.Mode) (front, error) {
	k, m, err := findFront(m)
	if err != nil {
		return nil, err
	}
	return k.build(m.Read(k.Example))
}

// Modes describes what a route can check beside its limits.
func Modes() []mode.Doc {
	var docs []mode.Doc
	for _, k := range frontKinds() {
		docs = append(docs, k.Doc)
	}
	return docs
}

// unspent is what a request is told that has not got to the limits.
const unspent = "nothing was spent"

// plainMaxBody is what a plain route reads of a body, in bytes.
const plainMaxBody = 1 << 20

func plainKind() frontKind {
	return frontKind{
		Doc: mode.Doc{
			Name:    "plain",
			Example: "plain",
			Text:    "Every path is limited and answers 200; a body is read and ignored, one over 1 MiB is answered 413 and spends no token.",
		},
		build: func(r *mode.Reader) (front, error) {
			return plain{tooLarge: tooLarge(plainMaxBody, unspent), broken: broken(unspent)}, r.Done()
		},
	}
}

// plain checks nothing but the limits.
type plain struct{ tooLarge, broken *dialect.Answer }

func (p plain) before(w http.ResponseWriter, r *http.Request) (a *dialect.Answer, counted bool) {
	if r.Body == http.NoBody {
		return nil, false
	}
	_, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, plainMaxBody))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return p.tooLarge, false
	case err != nil:
		return p.broken, false
	}
	return nil, false
}

func (p plain) enter() *dialect.Answer { return nil }

func (p plain) work(context.Context) {}
