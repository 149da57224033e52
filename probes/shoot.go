package probes

import (
	"context"
	"sync"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// muster opens the connections that a volley needs and makes its requests wait
// for their release.
func (r *run) muster(b beat) {
	ctx, cancel := context.WithTimeout(r.requests, 2*time.Second)
	defer cancel()
	gates := r.gates(ctx, b)
	need := map[*chute]int{}
	for i, s := range b.shots {
		if gates[i] == nil || gates[i].packet == nil {
			need[r.chutes[s.Key]]++
		}
	}
	var opening sync.WaitGroup
	for c, n := range need {
		opening.Go(func() { c.ready(ctx, n) })
	}
	opening.Wait()
	for i, s := range b.shots {
		go func() {
			defer r.flying.Done()
			defer gates[i].ended()
			h := r.shoot(s, b.crew.hold, gates[i])
			if b.crew.told != nil {
				b.crew.told(h)
			}
		}()
	}
}

// gates are those of a volley whose requests are kept back, and what opens them, one
// after the other. Each is nil where nothing is kept back. Over HTTP/2 one is that of many.
func (r *run) gates(ctx context.Context, b beat) []*gate {
	gates := make([]*gate, len(b.shots))
	switch {
	case !b.shot.Held:
		return gates
	case r.gun.url.Scheme != "http" || r.gun.target.Path == PathH2C:
		return r.packets(ctx, b)
	}
	for i := range gates {
		gates[i] = &gate{}
	}
	r.flying.Go(func() {
		<-b.crew.hold
		for _, g := range gates {
			g.open(r.clk)
		}
	})
	return gates
}

// shoot sends one shot, and what follows from its answer, and gives what is on
// record of it; nil: it was missed. hold, where it is not nil, is waited for
// when all is ready, and then the shot's own moment; a request with a gate leaves
// at once, and its end when the gate is opened.
func (r *run) shoot(s scenarios.Shot, hold <-chan struct{}, g *gate) *results.Hit {
	h := &results.Hit{Seq: s.Seq, Phase: s.Phase, Key: r.plan.Keys[s.Key], Cost: s.Cost, Planned: s.At}
	c := r.chutes[s.Key]
	if r.quit.has(s) {
		r.planned(s.Phase, -1)
		return nil
	}
	a, err := c.aim(r.requests, r.clk, r.plan.Ask(s))
	if err != nil {
		r.miss(s, err.Error())
		return nil
	}
	switch {
	case g != nil && g.packet != nil:
		a.path = g.packet
	case s.Apart:
		a.path = c.apart
	}
	a.stamps.gate = g
	if hold != nil && g == nil {
		<-hold
		r.sleepUntil(s.At)
		if r.ctx.Err() != nil || r.clk.now()-s.At > int64(s.Late) {
			a.cancel()
			r.miss(s, "")
			return nil
		}
	}
	if !r.send(c, a, h) {
		r.miss(s, h.Err)
		return nil
	}
	if h.Outcome == results.Limited {
		r.comeBack(s, h)
	}
	return h
}

// send sends an aimed request and puts it on record. It is false where the request was
// kept back and lost before it was let go: it was never complete.
func (r *run) send(c *chute, a aimed, h *results.Hit) bool {
	t := r.rec.begin()
	c.fire(a, r.clk, h)
	if g := a.stamps.gate; g != nil && g.never() && !h.Answered() {
		r.rec.drop(t)
		return false
	}
	r.count(h)
	r.rec.end(t, *h)
	return true
}

// comeBack sends a refused request again, if its client is one that does, when it
// does so.
func (r *run) comeBack(s scenarios.Shot, refused *results.Hit) {
	for refused != nil && refused.Outcome == results.Limited {
		r.quit.after(s)
		asks := refused.Asks()
		again, full, ok := s.Again(refused.First, asks.Wait, asks.Readable(), r.slack)
		if !ok {
			return
		}
		h := &results.Hit{Phase: s.Phase, Key: refused.Key, Cost: s.Cost}
		if full {
			again.At += int64(r.tick)
			h.Obeyed = refused.Seq
		}
		again.Seq = r.seq.Add(1)
		h.Seq, h.Planned = again.Seq, again.At
		r.planned(s.Phase, 1)
		if !r.sleepUntil(again.At) {
			r.miss(again, "")
			return
		}
		a, err := r.chutes[s.Key].aim(r.requests, r.clk, r.plan.Ask(again))
		if err != nil {
			r.miss(again, err.Error())
			return
		}
		if s.Apart {
			a.path = r.chutes[s.Key].apart
		}
		r.send(r.chutes[s.Key], a, h)
		s, refused = again, h
	}
}

// sleepUntil waits without hurry, and is false when the run was over first. Who
// obeys may come late, never early.
func (r *run) sleepUntil(at int64) bool { return sleepTill(r.ctx, r.clk, at) }

func sleepTill(ctx context.Context, clk clock, at int64) bool {
	for {
		left := time.Duration(at - clk.now())
		if left <= 0 {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(left):
		}
	}
}

// miss counts a shot that was not sent. One that had not come due when firing ended is
// none that was missed: it is not planned any more.
func (r *run) miss(s scenarios.Shot, why string) {
	if !r.cameDue(s) {
		r.planned(s.Phase, -1)
		return
	}
	r.progress.Missed.Add(1)
	now := r.clk.now()
	r.rec.mark(results.Mark{At: now, To: now, Kind: results.MarkMiss, Seq: s.Seq, Text: why})
}

// cameDue reports whether a shot's moment came before firing ended, which is when the
// first shot was not fired for it.
func (r *run) cameDue(s scenarios.Shot) bool {
	if r.ctx.Err() == nil {
		return true
	}
	r.ended.Do(func() { r.endedAt = r.clk.now() })
	return s.At <= r.endedAt
}

func (r *run) count(h *results.Hit) {
	p := r.progress
	p.Sent.Add(1)
	switch h.Outcome {
	case results.Admitted:
		p.Admitted.Add(1)
	case results.Limited:
		p.Limited.Add(1)
	case results.Other:
		p.Other.Add(1)
	default:
		p.Unknown.Add(1)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[h.Phase].Sent++
	if r.requests.Err() != nil && !h.Answered() {
		r.torn++
	}
}

// account is what the run says of itself.
func (r *run) account(stopped string) results.Run {
	p := r.progress
	return results.Run{
		Planned: p.Planned.Load(), Sent: p.Sent.Load() - r.torn, Missed: p.Missed.Load(), InFlight: r.torn,
		LastedNS: r.clk.now(), Path: r.path(), Stopped: stopped, Phases: r.counts,
	}
}
