package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/ratehammer/ratehammer/cmd/hammer/live"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// plainEvery is how often a line is written where there is no terminal.
const plainEvery = 5 * time.Second

// frameEvery is how often a terminal is drawn anew.
const frameEvery = 200 * time.Millisecond

// viewer shows how runs go, on a terminal as a frame that is drawn anew, and with a line
// now and then elsewhere.
type viewer struct {
	console *console
	screen  *live.Screen // nil: there is no terminal
	record  *live.Record // nil as well then
	proven  bool         // a breach is shown
	atMost  func(time.Duration) (float64, bool)
}

// newViewer is for a run on these limits.
func newViewer(c *console, limits []scenarios.Limit) *viewer {
	v := &viewer{console: c}
	if len(limits) == 1 {
		v.atMost = func(d time.Duration) (float64, bool) { return allowed(limits[0], d) }
	}
	if f, ok := c.talk.(*os.File); ok {
		if v.screen, ok = live.Open(f); ok {
			v.record = live.NewRecord()
		}
	}
	return v
}

// block is told of each piece of the record, and what it proves.
func (v *viewer) block(b results.Block, proof func() (results.Finding, bool)) {
	if v.record == nil {
		return
	}
	v.record.Block(b)
	if v.proven {
		return
	}
	var f results.Finding
	if f, v.proven = proof(); v.proven {
		v.record.Prove(proofLine(f))
	}
}

// proofLine is a breach in one line: where first, since a narrow screen cuts its end.
func proofLine(f results.Finding) string {
	where := ""
	if f.Key != "" {
		where = "on " + f.Key + ", "
	}
	return fmt.Sprintf("%s%.3f s: %s", where, time.Duration(f.FromNS).Seconds(), f.Text)
}

// show tells how far the run is until the returned function is called. The plan's
// moments are since the run has begun.
func (v *viewer) show(plan scenarios.Plan, p *probes.Progress, begun time.Time) (stop func()) {
	done := make(chan struct{})
	var shown sync.WaitGroup
	shown.Go(func() {
		if v.screen != nil {
			showFrames(v.screen, v.record, plan, p, v.atMost, begun, done)
		} else {
			showLines(v.console, plan, p, begun, done)
		}
	})
	return func() { close(done); shown.Wait() }
}

func state(plan scenarios.Plan, p *probes.Progress) string {
	text := fmt.Sprintf("%s: %d sent, %d admitted, %d limited", plan.Phases[p.Phase.Load()], p.Sent.Load(), p.Admitted.Load(), p.Limited.Load())
	if n := p.Missed.Load(); n > 0 {
		text += fmt.Sprintf(", %d missed", n)
	}
	return text
}

// planned is how long the run takes if no answer makes it longer: up to the last
// shot that is planned. Attacks, and requests that come back as they are told to,
// end when answers say so, by the plan's length at the latest.
func planned(plan scenarios.Plan) time.Duration {
	if plan.Shots.Len() > 0 {
		return time.Duration(plan.Shots.Last())
	}
	return plan.Length
}

// of says how much of a run is over, and what it depends on how long the rest takes.
func of(elapsed time.Duration, plan scenarios.Plan) string {
	whole, most := planned(plan).Round(time.Second), plan.Length.Round(time.Second)
	switch now := elapsed.Round(time.Second); {
	case elapsed > plan.Length+time.Second:
		return "all is fired; what is left is answers and the verdict"
	case now > whole:
		return fmt.Sprintf("%v, all planned requests are sent, and answers direct what follows (%v at most)", now, most)
	case most > whole:
		return fmt.Sprintf("%v of %v (%v at most)", now, whole, most)
	default:
		return fmt.Sprintf("%v of %v", now, whole)
	}
}

func showLines(c *console, plan scenarios.Plan, p *probes.Progress, start time.Time, done <-chan struct{}) {
	tick := time.NewTicker(plainEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			c.sayf("%s, %s", of(time.Since(start), plan), state(plan, p))
		}
	}
}

// showFrames draws the run as it goes, until it is done.
func showFrames(screen *live.Screen, l *live.Record, plan scenarios.Plan, p *probes.Progress, atMost func(time.Duration) (float64, bool), start time.Time, done <-chan struct{}) {
	defer screen.Clear()
	tick := time.NewTicker(frameEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			state := live.State{Phase: plan.Phases[p.Phase.Load()], Elapsed: time.Since(start), Whole: planned(plan), Most: plan.Length, AtMost: atMost,
				Planned: p.Planned.Load(), Sent: p.Sent.Load(), Missed: p.Missed.Load(),
				Admitted: p.Admitted.Load(), Limited: p.Limited.Load(), Other: p.Other.Load(), Unknown: p.Unknown.Load()}
			screen.Draw(l.Frame(state, screen.Style()))
		}
	}
}
