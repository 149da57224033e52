package probes

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// FireInside fires the plan at a handler in this process, without a network, and
// gives the record. It goes by time.Now and time.Sleep and nothing else, so in a
// bubble of testing/synctest minutes pass in milliseconds, for the handler too. A
// request's moments are those before and after the handler was called. When ctx
// ends, what is due later is not fired.
func (g *Gun) FireInside(ctx context.Context, h http.Handler, plan scenarios.Plan, slack scenarios.Slack) ([]results.Block, results.Run) {
	r := &inside{gun: g, ctx: ctx, handler: h, plan: plan, slack: slack, clk: clock{time.Now()}, seq: int64(plan.Shots.Len())}
	for _, name := range plan.Phases {
		r.counts = append(r.counts, results.Count{Name: name})
	}
	for _, a := range plan.Attacks {
		r.flying.Go(func() { r.pursue(a) })
	}
	for _, s := range plan.Floods {
		r.saturate(s)
	}
	for s := range plan.Shots.All() {
		if !r.sleep(s.At) {
			break
		}
		r.flying.Go(func() { r.shoot(s) })
	}
	r.flying.Wait()
	run := results.Run{Planned: int64(len(r.hits)), Sent: int64(len(r.hits)), LastedNS: r.clk.now(), Path: "inside (http.Handler)", Phases: r.counts}
	if ctx.Err() != nil {
		run.Stopped = "interrupted"
	}
	for _, hit := range r.hits {
		run.Add(hit.Outcome)
	}
	return results.Blocks(r.hits), run
}

// inside is one firing at a handler.
type inside struct {
	gun     *Gun
	ctx     context.Context
	handler http.Handler
	plan    scenarios.Plan
	slack   scenarios.Slack
	clk     clock
	flying  sync.WaitGroup

	mu     sync.Mutex
	quit   quitters
	seq    int64
	hits   []results.Hit
	counts []results.Count
	owned  map[place]int32 // connections that keys have to themselves
}

// sleep waits for a moment, and is false when the run was over first.
func (r *inside) sleep(until int64) bool {
	if d := until - r.clk.now(); d > 0 {
		t := time.NewTimer(time.Duration(d))
		defer t.Stop()
		select {
		case <-t.C:
		case <-r.ctx.Done():
		}
	}
	return r.ctx.Err() == nil
}

// shoot sends a shot and, where it obeys, what follows from its refusal.
func (r *inside) shoot(s scenarios.Shot) results.Hit {
	h := results.Hit{Seq: s.Seq, Phase: s.Phase, Key: r.plan.Keys[s.Key], Cost: s.Cost, Planned: s.At}
	if r.quit.has(s) {
		return h
	}
	r.ask(s, &h)
	for last := h; last.Outcome == results.Limited; {
		r.quit.after(s)
		asks := last.Asks()
		again, full, ok := s.Again(last.First, asks.Wait, asks.Readable(), r.slack)
		if !ok {
			break
		}
		next := results.Hit{Seq: r.number(), Phase: h.Phase, Key: h.Key, Cost: h.Cost, Planned: again.At}
		if full {
			next.Obeyed = last.Seq
		}
		if !r.sleep(next.Planned) {
			break
		}
		r.ask(again, &next)
		s, last = again, next
	}
	return h
}

// ask sends a request and puts it on record.
func (r *inside) ask(s scenarios.Shot, h *results.Hit) {
	asked := r.plan.Ask(s)
	h.Conn, h.Fresh = r.connection(asked, h.Seq)
	request, err := r.gun.Incoming(r.ctx, asked, h.Conn)
	h.First = results.Never
	h.Sent = r.clk.now()
	switch {
	case err != nil:
		h.Err = err.Error()
	default:
		r.serve(h, request)
	}
	h.Done = r.clk.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hits = append(r.hits, *h)
	r.counts[h.Phase].Planned++
	r.counts[h.Phase].Sent++
}

// connection is the number of the one that a request comes on: one of its key's
// own where it takes those in turn, else one that no other comes on.
func (r *inside) connection(a scenarios.Ask, seq int64) (conn int32, fresh bool) {
	n := a.Line()
	if n == 0 {
		return int32(seq), true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.owned == nil {
		r.owned = map[place]int32{}
	}
	conn, used := r.owned[place{a.Key, n}]
	if !used {
		conn = int32(seq)
		r.owned[place{a.Key, n}] = conn
	}
	return conn, !used
}

// serve lets the handler answer. One that panics has answered nothing, as over a
// network.
func (r *inside) serve(h *results.Hit, request *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			h.First, h.Outcome, h.Err = results.Never, results.Unknown, fmt.Sprintf("the handler panicked: %v", p)
		}
	}()
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, request)
	h.First = r.clk.now()
	r.gun.Read(h, w.Result())
}

func (r *inside) number() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	return r.seq
}

// saturate asks as fast as is answered.
func (r *inside) saturate(s scenarios.Saturation) {
	var used atomic.Int64
	for range s.Connections {
		r.flying.Go(func() {
			for r.sleep(s.At) && r.clk.now() < s.Until() && used.Add(1) <= int64(s.Most) {
				r.shoot(scenarios.Shot{Seq: r.number(), At: r.clk.now(), Phase: s.Phase, Key: s.Key, Cost: s.Cost})
			}
		})
	}
}

// pursue fires an attack.
func (r *inside) pursue(a scenarios.Attack) {
	answers := make(chan scenarios.Answer, a.Most())
	attacker := a.Begin()
	for {
		s, ok := attacker.Next()
		if !ok || r.ctx.Err() != nil {
			return
		}
		due := time.NewTimer(time.Duration(s.At - r.clk.now()))
		select {
		case <-r.ctx.Done():
		case heard := <-answers:
			attacker.Heard(heard)
		case <-due.C:
			r.salvo(a, attacker.Take(), answers)
		}
		due.Stop()
	}
}

// salvo sends a salvo, whose moment has come.
func (r *inside) salvo(a scenarios.Attack, s scenarios.Salvo, answers chan<- scenarios.Answer) {
	for i := range s.Size {
		shot := scenarios.Shot{Seq: r.number(), At: s.Due(i), Phase: a.Phase, Key: a.Key, Cost: 1}
		r.flying.Go(func() {
			if r.sleep(shot.At) {
				h := r.shoot(shot)
				answers <- answer(s.Number, &h)
			}
		})
	}
}

// Incoming is a request as a server in this process is given it, on a connection
// with this number.
func (g *Gun) Incoming(ctx context.Context, a scenarios.Ask, conn int32) (*http.Request, error) {
	r, err := g.chutes[0].request(ctx, a)
	if err != nil {
		return nil, err
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	from, err := g.source(a.Key)
	if err != nil {
		return nil, err
	}
	host := "127.0.0.1"
	if from.IsValid() {
		host = from.String()
	}
	// A connection is told from others by its port.
	r.RemoteAddr = fmt.Sprintf("%s:%d", host, 1024+conn%64000)
	r.RequestURI = r.URL.RequestURI()
	return r, nil
}
