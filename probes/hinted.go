package probes

import "errors"

// Hinted is an error with advice for people.
type Hinted struct {
	Err  error
	Hint string
}

func (h *Hinted) Error() string { return h.Err.Error() }
func (h *Hinted) Unwrap() error { return h.Err }

func hinted(err error, hint string) error { return &Hinted{err, hint} }

// Hint is the advice in an error's chain, or empty.
func Hint(err error) string {
	var h *Hinted
	if errors.As(err, &h) {
		return h.Hint
	}
	return ""
}
