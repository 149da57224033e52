package defect

import (
	"container/list"
	"sync"
)

// hall has a number of seats, for which keys compete: whoever was not asked for
// longest loses his to one who comes.
type hall struct {
	mu    sync.Mutex
	most  int
	clear bool // all lose theirs at once, instead of one
	taken *list.List
}

func newHall(most int, clear bool) *hall { return &hall{most: most, clear: clear, taken: list.New()} }

// seat is that of one key, in the hall of the server that has seen it first.
type seat struct {
	hall    *hall
	element *list.Element // nil: it has none, or none any more
}

func (s *seat) taken() bool {
	s.hall.mu.Lock()
	defer s.hall.mu.Unlock()
	return s.element != nil
}

// take gives the key its seat, to have longer than all others.
func (s *seat) take() {
	h := s.hall
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.element != nil {
		h.taken.MoveToBack(s.element)
		return
	}
	for full := h.taken.Len() >= h.most; full; full = h.clear && h.taken.Len() > 0 {
		h.leave()
	}
	s.element = h.taken.PushBack(s)
}

// leave takes the seat of the key that was not asked for longest.
func (h *hall) leave() {
	h.taken.Remove(h.taken.Front()).(*seat).element = nil
}
