package probes

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Saturation is a closed loop: each connection asks again as soon as it is answered. It
// tells what a server, and hammer, can do; no promise is judged by it, since how much is
// asked depends on how fast the server is.
type Saturation struct {
	Key         string        // label of the one key
	Connections int           // at least 1
	For         time.Duration // after which nothing more is sent
	Loops       int           // threads that the connections are shared out to; 0: one
}

// Saturate fires in a closed loop on the fast path, with everything on record.
func (g *Gun) Saturate(ctx context.Context, s Saturation, sink Sink, progress *Progress) (results.Run, error) {
	if !g.fast() {
		return results.Run{}, fmt.Errorf("a closed loop takes the fast path, which speaks HTTP/1.1 over plain TCP")
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	requests, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	context.AfterFunc(ctx, func() { time.AfterFunc(grace, giveUp) })
	r := &run{gun: g, plan: scenarios.Plan{Phases: []string{"saturate"}, Keys: []string{s.Key}}, progress: progress, ctx: ctx, requests: requests}
	if err := r.assign(); err != nil {
		return results.Run{}, err
	}
	r.clk = clock{time.Now()}
	loops, err := r.floods(s)
	if err != nil {
		return results.Run{}, err
	}
	r.fast, r.rec = loops[0], newRecorder(sink, r.clk, stop)
	watching, stopWatching := context.WithCancel(context.Background())
	var watched, going sync.WaitGroup
	watched.Go(func() { watch(watching, r.clk, r.rec) })
	for _, f := range loops {
		going.Go(func() {
			f.pace()
			f.loop.Close()
		})
	}
	going.Wait()
	stopWatching()
	watched.Wait()
	err = r.rec.close()
	stopped := ""
	if ctx.Err() != nil {
		stopped = "interrupted"
	}
	return r.account(stopped), err
}

// floods are the loops of a closed loop, with their shares of the connections.
func (r *run) floods(s Saturation) (loops []*fast, err error) {
	n := min(max(s.Loops, 1), s.Connections)
	for i := range n {
		f, err := r.newFast(i)
		if err != nil {
			return nil, err
		}
		f.flood = &flood{connections: s.Connections*(i+1)/n - s.Connections*i/n, until: int64(s.For)}
		loops = append(loops, f)
	}
	return loops, nil
}

// flood is the closed loop of one thread.
type flood struct {
	connections int
	until       int64 // when nothing more is sent, nanoseconds since the run's start
	begun       bool
}

// open sends the first request on each connection.
func (f *fast) open() {
	f.flood.begun = true
	for range f.flood.connections {
		if fl := f.aim(scenarios.Shot{Cost: 1}, 0); fl != nil {
			f.flow(fl)
		}
	}
}

// flow sends a request again, and is false where it is not to be sent any more.
func (f *fast) flow(fl *flight) bool {
	now := fl.x.Done // 0: it was never sent
	if now >= f.flood.until || f.stopped {
		return false
	}
	f.counted(0).planned++
	fl.shot.Seq, fl.shot.At = f.run.seq.Add(1), now
	fl.said = nil
	f.loop.Send(&fl.x)
	return true
}
