package probes

import (
	"container/heap"
	"errors"
	"runtime"
	"time"

	"github.com/ratehammer/ratehammer/probes/wire"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// fast is the fast path of a run: all that is to be done at a moment, and all that
// follows from an answer, is done on the loop's thread, so that nothing is handed from
// one goroutine to another and nothing allocated for a request that goes as planned.
type fast struct {
	run  *run
	n    int // of the run's loops, from 0
	loop *wire.Loop
	read *readings

	agenda   *agenda // of the plan
	begun    []bool  // by phase
	later    moments // what answers have brought about
	stopped  bool    // firing is to end: what is still in flight is waited for
	grounds  map[*chute]*ground
	prepared map[preparedFor]*prepared
	dressed  bool      // the requests of the next beat are made
	spare    []*flight // that are not used now
	flood    *flood    // beside the plan, to be begun; nil: none is
	block    []results.Hit
	handed   int64    // when hits were last handed over
	counts   []counts // by phase: what was not told to the run yet
}

// flight is one shot under way.
type flight struct {
	x      wire.Exchange
	shot   scenarios.Shot
	obeyed int64 // as in results.Hit
	chase  *chase
	salvo  int    // of the chase
	flood  *flood // that it belongs to; nil: none
	said   *reading
	date   string
}

// handEvery is how long hits are kept before they are handed over.
const handEvery = int64(20 * time.Millisecond)

// atOnce is how many beats are dealt with between two looks at what has come.
const atOnce = 16

// pace goes through the agenda, in the goroutine of a thread of its own. The runtime is
// given a processor more, which the loop has for itself: with as many as there are, two
// busy goroutines, of a server in this process or the judge, would keep it from running
// for 10 ms and more.
func (f *fast) pace() {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1))
	f.agenda, f.dressed = f.run.agenda, false
	f.begun = make([]bool, len(f.run.plan.Phases))
	f.foresee()
	f.hand(f.run.clk.now(), f.loop.Oldest())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.loop.Run(f)
	}()
	<-done
	f.hand(f.run.clk.now(), results.Never)
}

// Due does what is due.
func (f *fast) Due(now int64) int64 {
	if f.stopped || f.run.ctx.Err() != nil {
		f.stop()
	}
	if f.flood != nil {
		f.open(f.flood)
		f.flood = nil
	}
	// So many that what has come is still heard of in between: who only sends never hears
	// that a connection is there.
	for range atOnce {
		b := f.agenda.peek()
		if b == nil || b.at > f.run.clk.now() {
			break
		}
		f.beat(b)
		f.agenda.done()
		f.dressed = false
	}
	for len(f.later) > 0 && f.later[0].at <= now {
		m := heap.Pop(&f.later).(*moment)
		m.do()
	}
	if now-f.handed >= handEvery || len(f.block) >= blockSize {
		f.hand(now, f.loop.Oldest())
	}
	return f.next()
}

// next is when there is more to do, with the requests made that are due then.
func (f *fast) next() int64 {
	at := int64(wire.Never)
	if b := f.agenda.peek(); b != nil {
		at = b.at
		if !f.dressed {
			f.dressed = true
			f.dressAll(b)
		}
	}
	if len(f.later) > 0 {
		at = min(at, f.later[0].at)
	}
	return at
}

// beat does what the agenda says.
func (f *fast) beat(b *beat) {
	f.run.phase(b, f.begun)
	switch {
	case b.attack != nil:
		f.pursue(*b.attack)
	case b.flood != nil:
		f.open(floodOf(*b.flood))
	case b.ready:
		f.muster(b)
	case b.crew != nil:
		f.release(b)
	case f.run.clk.now()-b.at > int64(b.late):
		f.run.miss(b.shot, "")
	default:
		if fl := f.shoot(b.shot, b.at+int64(b.late)); fl != nil && !b.shot.Apart {
			f.loop.Spare(fl.x.Place)
		}
	}
}

// shoot sends a shot, unless its client has given up. From latest on it is not sent any
// more; 0: it is sent however late.
func (f *fast) shoot(s scenarios.Shot, latest int64) *flight {
	if f.run.quit.has(s) {
		f.run.planned(s.Phase, -1)
		return nil
	}
	fl := f.aim(s, latest)
	if fl != nil {
		f.loop.Send(&fl.x)
	}
	return fl
}

// aim makes a shot ready to be sent; nil: it could not be, and is missed.
func (f *fast) aim(s scenarios.Shot, latest int64) *flight {
	p, err := f.dress(s)
	if err != nil {
		f.run.miss(s, err.Error())
		return nil
	}
	var fl *flight
	if n := len(f.spare); n > 0 {
		fl, f.spare = f.spare[n-1], f.spare[:n-1]
	} else {
		fl = &flight{}
	}
	fl.shot = s
	fl.x = wire.Exchange{Request: p.bytes, Place: f.place(s), Head: p.head, Latest: latest, Of: fl}
	return fl
}

// Headed takes in what an answer says.
func (f *fast) Headed(x *wire.Exchange, h *wire.Head) {
	fl := x.Of.(*flight)
	fl.said, fl.date = f.read.read(h)
}

// Ended puts a request on record, and does what follows from its answer.
func (f *fast) Ended(x *wire.Exchange) {
	fl := x.Of.(*flight)
	if x.Unsent {
		why := ""
		if f.run.ctx.Err() == nil {
			why = x.Err.Error()
		}
		f.run.miss(fl.shot, why)
		f.heard(fl, nil)
		f.done(fl)
		return
	}
	f.block = append(f.block, f.hit(fl))
	h := &f.block[len(f.block)-1]
	f.count(h)
	if h.Outcome == results.Limited {
		f.comeBack(fl.shot, h)
	}
	f.heard(fl, h)
	f.done(fl)
}

// done puts a flight away that has ended, or uses it again.
func (f *fast) done(fl *flight) {
	if fl.flood != nil {
		f.flow(fl)
		return
	}
	f.recycle(fl)
}

// hit is what is on record of a request.
func (f *fast) hit(fl *flight) results.Hit {
	x, s := &fl.x, &fl.shot
	h := results.Hit{Seq: s.Seq, Phase: s.Phase, Conn: x.Conn, Key: f.run.plan.Keys[s.Key], Peer: x.Peer, Cost: s.Cost,
		Planned: s.At, Sent: x.Sent, First: x.First, Done: x.Done, Fresh: x.Fresh, Obeyed: fl.obeyed}
	if fl.said != nil {
		h.Status, h.Outcome, h.RetryAfter, h.Headers, h.Date = fl.said.status, fl.said.outcome, fl.said.retryAfter, fl.said.headers, fl.date
	}
	if x.Err != nil {
		h.Err = x.Err.Error()
		if errors.Is(x.Err, wire.ErrTimeout) {
			h.Err = results.NoAnswer
		}
		if x.First != wire.Never {
			h.Err = "reading the body: " + h.Err
		}
		if errors.Is(x.Err, wire.ErrMalformed) {
			h.Err += " (--path full may read it)"
		}
	}
	return h
}

func (f *fast) recycle(fl *flight) {
	*fl = flight{}
	f.spare = append(f.spare, fl)
}

// hand gives the recorder what has ended. No later hit was sent before low.
func (f *fast) hand(now, low int64) {
	f.handed = now
	f.tally()
	n := len(f.block)
	f.run.rec.hand(f.n, f.block, low)
	if n > 0 { // it is the recorder's now; the next one will be about as long
		f.block = make([]results.Hit, 0, min(n+n/4+16, blockSize))
	}
}

// comeBack sends a refused request again, if its client is one that does, when it does so.
func (f *fast) comeBack(s scenarios.Shot, refused *results.Hit) {
	r := f.run
	r.quit.after(s)
	if s.Retry == scenarios.RetryNone || f.stopped {
		return
	}
	asks := refused.Asks()
	again, full, ok := s.Again(refused.First, asks.Wait, asks.Readable(), r.slack)
	if !ok {
		return
	}
	obeyed := int64(0)
	if full {
		again.At += int64(r.tick)
		obeyed = refused.Seq
	}
	again.Seq = r.seq.Add(1)
	r.planned(s.Phase, 1)
	f.at(again.At, func() {
		if fl := f.aim(again, 0); fl != nil {
			fl.obeyed = obeyed
			f.loop.Send(&fl.x)
		}
	}, func() { r.miss(again, "") })
}

// stop skips what is not to be fired any more, and gives up in the end what is in flight.
func (f *fast) stop() {
	if !f.stopped {
		f.stopped = true
		for b := f.agenda.peek(); b != nil; b = f.agenda.peek() {
			f.skip(b)
			f.agenda.done()
		}
		for len(f.later) > 0 {
			if m := heap.Pop(&f.later).(*moment); m.skip != nil {
				m.skip()
			}
		}
	}
	if f.run.requests.Err() != nil {
		f.loop.GiveAllUp()
	}
}

// skip counts a beat that is no longer to be fired.
func (f *fast) skip(b *beat) {
	switch {
	case b.ready, b.attack != nil, b.flood != nil: // an attack that does not begin has planned nothing
	case b.crew != nil && b.crew.mustered && b.shot.Held:
		f.disband(b.crew)
	default:
		f.run.skipAll(b.together())
	}
}

// moment is something that is to be done later.
type moment struct {
	at   int64
	do   func()
	skip func() // instead, where firing has ended; nil: nothing
}

func (f *fast) at(at int64, do, skip func()) {
	heap.Push(&f.later, &moment{at, do, skip})
}

// moments is a heap of them by time.
type moments []*moment

func (m moments) Len() int           { return len(m) }
func (m moments) Less(i, j int) bool { return m[i].at < m[j].at }
func (m moments) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *moments) Push(x any)        { *m = append(*m, x.(*moment)) }

func (m *moments) Pop() any {
	old := *m
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*m = old[:len(old)-1]
	return last
}
