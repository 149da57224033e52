package probes

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// grace is how long requests in flight are waited for when firing has ended early.
const grace = 5 * time.Second

// Progress is how far a run is; it may be read while the run goes on.
type Progress struct {
	Planned, Sent, Missed             atomic.Int64
	Admitted, Limited, Other, Unknown atomic.Int64
	Phase                             atomic.Int32 // index into the plan's phases
	Elapsed                           atomic.Int64 // nanoseconds
}

// run is one firing of a plan.
type run struct {
	gun      *Gun
	plan     scenarios.Plan
	slack    scenarios.Slack
	tick     time.Duration
	agenda   *agenda // of the plan
	clk      clock
	rec      *recorder
	progress *Progress
	chutes   []*chute        // by key
	ctx      context.Context // ends when firing is to stop
	requests context.Context // of the requests in flight; ends when they are to be given up
	flying   sync.WaitGroup
	seq      atomic.Int64 // the last one given out
	quit     quitters
	packed   atomic.Bool // a volley left in packets
	fast     *fast       // nil: the full path is taken
	ended    sync.Once
	endedAt  int64 // when firing was ended early

	mu     sync.Mutex
	counts []results.Count // by phase
	torn   int64           // requests given up because the run was over
}

// Fire fires the plan and hands the record to the sink while it grows. When ctx
// ends, or the sink fails, firing stops; what is in flight is waited for, up to
// five seconds, and is on record however it went. slack is what a retry that
// obeys adds to its wait, tick the step of the client's clock. The error is the
// sink's, or what kept a request from being made; the Run is filled in either case.
func (g *Gun) Fire(ctx context.Context, plan scenarios.Plan, slack scenarios.Slack, tick time.Duration, sink Sink, progress *Progress) (results.Run, error) {
	return g.FireOn(ctx, plan, slack, tick, sink, progress, nil)
}

// Next is asked, when a plan was fired to its end and the sink has all of its
// record, what is to be fired behind it: a plan whose moments are since the same
// start, whose phases and keys begin with those of the one before, and which
// holds none of its requests. now tells the time since that start.
type Next func(so results.Run, now func() time.Duration) (plan scenarios.Plan, ok bool)

// FireOn fires a plan, and behind it what next says, as one run on one clock
// under one watch. A nil next says nothing. A run that was stopped in what came
// behind the plan counts as fired to its end: what the plan asked was asked.
func (g *Gun) FireOn(ctx context.Context, plan scenarios.Plan, slack scenarios.Slack, tick time.Duration, sink Sink, progress *Progress, next Next) (results.Run, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	requests, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	context.AfterFunc(ctx, func() { time.AfterFunc(grace, giveUp) })

	r := &run{gun: g, plan: plan, progress: progress, slack: slack, tick: tick, ctx: ctx, requests: requests}
	if err := r.assign(); err != nil {
		return results.Run{}, err
	}
	r.clk = clock{g.meeting.begin(ctx)}
	r.seq.Store(int64(plan.Shots.Len()))
	if err := r.take(); err != nil {
		return results.Run{}, err
	}
	r.rec = newRecorder(sink, r.clk, stop)
	defer r.leave()
	watching, stopWatching := context.WithCancel(context.Background())
	var watched sync.WaitGroup
	watched.Go(func() { watch(watching, r.clk, r.rec) })

	settled := r.act(stop)
	r.pace()
	r.flying.Wait()
	stopped := ""
	if acted := settled(); acted != nil {
		stopped = acted.Error()
	} else if ctx.Err() != nil {
		stopped = "interrupted"
	}
	var err error
	if next != nil && stopped == "" {
		err = r.goOn(next)
	}
	stopWatching()
	watched.Wait()
	if failed := r.rec.close(); failed != nil {
		err = failed
	}
	if err != nil {
		stopped = err.Error()
	}
	return r.account(stopped), err
}

// goOn fires what is to come behind the plan.
func (r *run) goOn(next Next) error {
	r.rec.settle()
	plan, ok := next(r.account(""), func() time.Duration { return time.Duration(r.clk.now()) })
	if !ok || r.ctx.Err() != nil {
		return nil
	}
	n := int64(plan.Shots.Len())
	plan.Shots = plan.Shots.Behind(r.seq.Add(n) - n)
	r.plan = plan
	if err := r.assign(); err != nil {
		return err
	}
	r.pace()
	r.flying.Wait()
	return nil
}

// assign gives each new key its chute, counts what is planned, and lays it out for the
// pacer.
func (r *run) assign() error {
	for _, label := range r.plan.Keys[len(r.chutes):] {
		source, err := r.gun.source(label)
		if err != nil {
			return err
		}
		r.chutes = append(r.chutes, r.gun.chuteFor(source))
	}
	for _, name := range r.plan.Phases[len(r.counts):] {
		r.counts = append(r.counts, results.Count{Name: name})
	}
	for i, n := range r.plan.Shots.Count(len(r.counts)) {
		r.counts[i].Planned += n
		r.progress.Planned.Add(n)
	}
	r.agenda = newAgenda(r.plan)
	return nil
}

// pace goes through the agenda on a thread of its own, so that nothing of ours
// delays its waking.
func (r *run) pace() {
	if r.fast != nil {
		r.fast.pace()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread's timer slack was changed
		s, begun := newSleeper(), make([]bool, len(r.plan.Phases))
		for b := r.agenda.peek(); b != nil; b = r.agenda.peek() {
			if r.clk.until(r.ctx, b.at, s) {
				r.phase(b, begun)
				r.dispatch(*b)
			} else {
				r.skip(*b)
			}
			r.agenda.done()
		}
	}()
	<-done
}

// phase marks the first beat of each phase.
func (r *run) phase(b *beat, begun []bool) {
	r.progress.Elapsed.Store(b.at)
	p := b.phase
	if b.ready || begun[p] {
		return
	}
	begun[p] = true
	r.progress.Phase.Store(p)
	now := r.clk.now()
	r.rec.mark(results.Mark{At: now, To: now, Kind: results.MarkPhase, Text: r.plan.Phases[p]})
}

func (r *run) dispatch(b beat) {
	switch {
	case b.attack != nil:
		r.flying.Add(1)
		go r.pursue(*b.attack)
	case b.flood != nil:
		r.saturate(*b.flood)
	case b.ready:
		b.crew.mustered = true
		r.flying.Add(len(b.shots))
		go r.muster(b)
	case b.crew != nil:
		close(b.crew.hold)
	case r.clk.now()-b.at > int64(b.late):
		r.miss(b.shot, "")
	default:
		r.flying.Add(1)
		go func() {
			defer r.flying.Done()
			r.shoot(b.shot, nil, nil)
		}()
	}
}

// skip counts a beat that is no longer to be fired. A crew that is waiting
// counts itself.
func (r *run) skip(b beat) {
	switch {
	case b.ready, b.attack != nil, b.flood != nil: // an attack that does not begin has planned nothing
	case b.crew != nil && b.crew.mustered:
		close(b.crew.hold)
	default:
		r.skipAll(b.together())
	}
}

// skipAll counts shots that are no longer to be fired.
func (r *run) skipAll(shots []scenarios.Shot) {
	for _, s := range shots {
		r.miss(s, "")
	}
}

// crew are the requests of a volley, ready to leave.
type crew struct {
	hold     chan struct{}      // closed when they are to leave
	mustered bool               // the pacer's own
	held     []held             // of the fast path: what is kept back
	told     func(*results.Hit) // is told how each went, nil for one that was missed; nil: nobody is
}
