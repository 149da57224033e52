package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/scenarios"
)

// plainEvery is how often a line is written where there is no terminal.
const plainEvery = 5 * time.Second

// show tells how far the run is until the returned function is called: with a
// bar on a terminal, with a line now and then elsewhere. The plan's moments are
// since the run has begun.
func show(c *console, plan scenarios.Plan, p *probes.Progress, begun time.Time) (stop func()) {
	done := make(chan struct{})
	var shown sync.WaitGroup
	f, ok := c.talk.(*os.File)
	bar := ok && term.IsTerminal(int(f.Fd()))
	shown.Go(func() {
		if bar {
			showBar(f, plan, p, begun, done)
		} else {
			showLines(c, plan, p, begun, done)
		}
	})
	return func() { close(done); shown.Wait() }
}

func state(plan scenarios.Plan, p *probes.Progress) string {
	return fmt.Sprintf("%s: %d sent, %d admitted, %d limited", plan.Phases[p.Phase.Load()], p.Sent.Load(), p.Admitted.Load(), p.Limited.Load())
}

// planned is how long the run takes if no answer makes it longer: up to the last
// shot that is planned. Attacks, and requests that come back as they are told to,
// end when answers say so, by the plan's length at the latest.
func planned(plan scenarios.Plan) time.Duration {
	if n := len(plan.Shots); n > 0 {
		return time.Duration(plan.Shots[n-1].At)
	}
	return plan.Length
}

// of says how much of a run is over, and what it depends on how long the rest takes.
func of(elapsed time.Duration, plan scenarios.Plan) string {
	whole, most := planned(plan).Round(time.Second), plan.Length.Round(time.Second)
	switch now := elapsed.Round(time.Second); {
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

func showBar(f *os.File, plan scenarios.Plan, p *probes.Progress, start time.Time, done <-chan struct{}) {
	total := max(planned(plan).Milliseconds(), 1)
	bar := progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(f), progressbar.OptionSetWidth(24), progressbar.OptionSetPredictTime(false),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(false), progressbar.OptionShowCount())
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			_ = bar.Finish()
			return
		case <-tick.C:
			elapsed := time.Since(start)
			if elapsed > planned(plan) { // what is left follows from answers, and takes as long as it takes
				bar.Describe(fmt.Sprintf("as answers direct, %v at most; %s", plan.Length.Round(time.Second), state(plan, p)))
			} else {
				bar.Describe(state(plan, p))
			}
			_ = bar.Set64(min(elapsed.Milliseconds(), total-1))
		}
	}
}
