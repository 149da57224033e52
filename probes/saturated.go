package probes

import (
	"sync/atomic"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// flood is a closed loop: connections of which each asks again as soon as it is answered.
type flood struct {
	shot        scenarios.Shot // that is sent again and again
	connections int
	until       int64 // when nothing more is sent, nanoseconds since the run's start
	left        int   // requests that it may still come to
}

// unanswered is how long a connection of a flood rests that got no answer: a server that
// is away is not asked as fast as it can be found to be.
const unanswered = 100 * time.Millisecond

func floodOf(s scenarios.Saturation) *flood {
	return &flood{shot: scenarios.Shot{Phase: s.Phase, Key: s.Key, Cost: s.Cost}, connections: s.Connections, until: s.Until(), left: s.Most}
}

// open sends the first request on each connection of a flood.
func (f *fast) open(o *flood) {
	for range min(o.connections, o.left) {
		fl := f.aim(o.shot, 0)
		if fl == nil { // no request could be made, which is on record as missed
			f.run.planned(o.shot.Phase, 1)
			return
		}
		fl.flood = o
		f.flow(fl)
	}
}

// flow sends a request of a flood again; one that is not sent any more is put away.
func (f *fast) flow(fl *flight) {
	now, o := f.run.clk.now(), fl.flood
	switch {
	case now >= o.until || f.stopped || o.left == 0:
		f.recycle(fl)
		return
	case fl.x.Err != nil:
		fl.x.Err = nil
		f.at(now+int64(unanswered), func() { f.flow(fl) }, func() { f.recycle(fl) })
		return
	}
	o.left--
	f.counted(o.shot.Phase).planned++
	fl.shot.Seq, fl.shot.At = f.run.seq.Add(1), now
	fl.said = nil
	f.loop.Send(&fl.x)
}

// saturate is a flood on the full path.
func (r *run) saturate(s scenarios.Saturation) {
	var used atomic.Int64
	for range s.Connections {
		r.flying.Go(func() {
			for r.ctx.Err() == nil && r.clk.now() < s.Until() && used.Add(1) <= int64(s.Most) {
				r.planned(s.Phase, 1)
				shot := scenarios.Shot{Seq: r.seq.Add(1), At: r.clk.now(), Phase: s.Phase, Key: s.Key, Cost: s.Cost}
				if h := r.shoot(shot, nil, nil); h == nil || !h.Answered() {
					r.sleepUntil(r.clk.now() + int64(unanswered))
				}
			}
		})
	}
}
