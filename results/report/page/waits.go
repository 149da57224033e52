package page

import (
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// waits holds what refusals said of the wait against what came then on the same
// key: until when it was still refused, and when it was admitted.
type waits struct {
	pending map[string][]*wait
	named   map[int64]bool // requests that findings are about
	proven  []wait         // of those
	done    []wait         // of the others
}

// wait is one refusal's.
type wait struct {
	seq     int64
	at      int64 // when the refusal came
	sent    int64 // when its request was sent
	said    int64 // nanoseconds
	refused int64 // nanoseconds from it to the last request that was refused again; 0: none was
	opened  int64 // nanoseconds until a request was admitted, at most; -1: none was
}

// mostPending is how many refusals of a key are followed at a time.
const mostPending = 48

func newWaits(findings []finding) *waits {
	w := &waits{pending: map[string][]*wait{}, named: map[int64]bool{}}
	for _, f := range findings {
		for _, seq := range f.Seqs {
			w.named[seq] = true
		}
	}
	return w
}

func (w *waits) hit(h *results.Hit) {
	if !h.Answered() {
		return
	}
	if h.Outcome == results.Admitted {
		w.admitted(h)
	}
	if h.Outcome == results.Limited {
		w.limited(h)
	}
}

// admitted ends the waits of the key's refusals that had come before it was sent.
func (w *waits) admitted(h *results.Hit) {
	left := w.pending[h.Key][:0]
	for _, p := range w.pending[h.Key] {
		if h.Sent < p.at {
			left = append(left, p)
			continue
		}
		p.opened = h.First - p.sent
		w.add(*p)
	}
	if w.pending[h.Key] = left; len(left) == 0 {
		delete(w.pending, h.Key)
	}
}

func (w *waits) limited(h *results.Hit) {
	open := w.pending[h.Key]
	for _, p := range open {
		if h.Sent > p.at {
			p.refused = max(p.refused, h.Sent-p.at)
		}
	}
	asks := h.Asks()
	if !asks.Readable() || asks.Wait > 100*24*time.Hour || len(open) >= mostPending && !w.named[h.Seq] || len(w.pending) == mostKeys {
		return
	}
	w.pending[h.Key] = append(open, &wait{seq: h.Seq, at: h.First, sent: h.Sent, said: int64(asks.Wait), opened: -1})
}

// add keeps a wait. When there is no more room every second one goes, but for those
// that findings are about.
func (w *waits) add(p wait) {
	if w.named[p.seq] && len(w.proven) < mostWaits {
		w.proven = append(w.proven, p)
		return
	}
	if w.done = append(w.done, p); len(w.done) < 2*mostWaits {
		return
	}
	for i := range mostWaits {
		w.done[i] = w.done[2*i]
	}
	w.done = w.done[:mostWaits]
}

// points are the waits as the page draws them: seq, said, refused, opened.
func (w *waits) points() [][]int64 {
	for _, open := range w.pending {
		for _, p := range open {
			if p.refused > 0 {
				w.add(*p)
			}
		}
	}
	points := [][]int64{}
	for _, p := range append(w.proven, w.done...) {
		points = append(points, []int64{p.seq, p.said, p.refused, p.opened})
	}
	return points
}
