package probes

import (
	"context"
	"fmt"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Actor does to the server what a plan says is done to it.
type Actor interface {
	// Do does it, and returns when it has taken effect. What it says is more than the
	// action does of what was done, or nothing. The error says why it has no effect.
	Do(context.Context, scenarios.Action) (what string, err error)
	// Undo takes back all that was done and still lasts, and says what that was.
	Undo() (what []string, err error)
}

// ActBy says who does what plans say is done to the server. It is called before
// firing; without it such a plan is an error.
func (g *Gun) ActBy(a Actor) { g.actor = a }

// DoubtStore says why it is not proven that what is done to the store is done to the
// server's, which goes on record with it; empty: it is. It is called before firing.
func (g *Gun) DoubtStore(why string) { g.doubt = why }

// act begins to do what the plan says, each thing at its moment and one after the
// other. What it gives is called when all was fired: it takes back what still
// lasts, and gives the error that ended the run.
func (r *run) act(stop context.CancelCauseFunc) (settled func() error) {
	actor := r.gun.actor
	switch {
	case actor == nil && len(r.plan.Actions) > 0:
		err := fmt.Errorf("the plan says what is done to the server, and nobody is there to do it")
		stop(err)
		return func() error { return err }
	case actor == nil:
		return func() error { return nil }
	}
	ctx, cancel := context.WithCancel(r.ctx)
	done := make(chan error, 1)
	go func() {
		err := r.actAll(ctx, actor)
		if err != nil {
			stop(err)
		}
		<-ctx.Done() // the end of the run, or an early end of firing: then what is in flight may hang on what was done
		done <- r.undo(actor, err)
	}()
	return func() error {
		cancel()
		return <-done
	}
}

func (r *run) actAll(ctx context.Context, actor Actor) error {
	for _, a := range r.plan.Actions {
		if !sleepTill(ctx, r.clk, int64(a.At)) {
			return nil
		}
		t := r.rec.begin()
		m := results.Mark{Kind: results.MarkFault, Text: a.String(), Act: string(a.Act), On: a.On, Free: string(a.Expect), Back: a.Back}
		if a.OfClock() {
			m.Kind = results.MarkClock
		}
		if a.Act == scenarios.ClockStep {
			m.Size = int64(a.By)
		}
		if a.On == scenarios.OnStore {
			m.Doubt = r.gun.doubt
		}
		what, err := actor.Do(ctx, a)
		if m.To = r.clk.now(); what != "" {
			m.Text += " (" + what + ")"
		}
		if err != nil && ctx.Err() == nil {
			m.Text += ", which failed: " + err.Error()
			r.rec.endMark(t, m)
			return fmt.Errorf("at %v it could not be done that %s: %w", a.At, a, err)
		}
		r.rec.endMark(t, m)
	}
	return nil
}

// undo takes back what lasts. What cannot be taken back is worse than what ended the run.
func (r *run) undo(actor Actor, err error) error {
	t := r.rec.begin()
	what, failed := actor.Undo()
	to := r.clk.now()
	if failed != nil {
		failed = fmt.Errorf("taking back what was done: %w", failed)
		r.rec.mark(results.Mark{At: to, To: to, Kind: results.MarkStuck, Text: failed.Error()})
	}
	for _, w := range what {
		r.rec.endMark(t, results.Mark{To: to, Kind: results.MarkUndo, Text: w})
	}
	r.rec.drop(t)
	if failed != nil {
		return failed
	}
	return err
}
