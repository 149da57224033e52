package probes

import (
	"context"
	"fmt"
	"math"
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
		f.flood = &flood{shot: scenarios.Shot{Cost: 1}, connections: s.Connections*(i+1)/n - s.Connections*i/n, until: int64(s.For), left: math.MaxInt}
		loops = append(loops, f)
	}
	return loops, nil
}
