package virtual

import (
	"container/heap"

	"github.com/ratehammer/ratehammer/scenarios"
)

// flood is a saturation under way.
type flood struct {
	plan scenarios.Saturation
	left int // requests that it may still come to
}

// saturate begins a saturation.
func (r *runner) saturate(s scenarios.Saturation) {
	f := &flood{plan: s, left: s.Most}
	for range s.Connections {
		r.flow(f, s.At)
	}
}

// flow sends the next request of a connection that was answered.
func (r *runner) flow(f *flood, at int64) {
	if at >= f.plan.Until() || f.left == 0 {
		return
	}
	f.left--
	heap.Push(&r.moments, moment{at: at, do: func() {
		r.seq++
		r.send(arrival{flood: f, shot: scenarios.Shot{Seq: r.seq, At: at, Phase: f.plan.Phase, Key: f.plan.Key, Cost: f.plan.Cost}}, r.rng)
	}})
}
