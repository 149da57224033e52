package action

import (
	"errors"

	"github.com/ratehammer/ratehammer/probes/action/vdso"
)

// Seen is what was seen of processes whose system calls were watched.
type Seen = vdso.Seen

// watch begins to watch what the processes ask for whose clocks were taken.
func (h *hand) watch() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.clocks.taken) == 0 {
		return errors.New("no clock of a process was moved, so that there is nothing to watch")
	}
	w, err := vdso.Watch(h.clocks.taken)
	if err == nil {
		h.watching = w
	}
	return err
}

// watched ends it, and says what was seen.
func (h *hand) watched() (*Seen, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watching == nil {
		return nil, errors.New("nothing is watched")
	}
	seen, err := h.watching.End()
	h.watching = nil
	return &seen, err
}
