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
// bar on a terminal, with a line now and then elsewhere.
func show(c *console, plan scenarios.Plan, p *probes.Progress) (stop func()) {
	done := make(chan struct{})
	var shown sync.WaitGroup
	f, ok := c.talk.(*os.File)
	bar := ok && term.IsTerminal(int(f.Fd()))
	shown.Go(func() {
		if bar {
			showBar(f, plan, p, done)
		} else {
			showLines(c, plan, p, done)
		}
	})
	return func() { close(done); shown.Wait() }
}

func state(plan scenarios.Plan, p *probes.Progress) string {
	return fmt.Sprintf("%s: %d sent, %d admitted, %d limited", plan.Phases[p.Phase.Load()], p.Sent.Load(), p.Admitted.Load(), p.Limited.Load())
}

func showLines(c *console, plan scenarios.Plan, p *probes.Progress, done <-chan struct{}) {
	tick := time.NewTicker(plainEvery)
	defer tick.Stop()
	start := time.Now()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			c.sayf("%v of %v, %s", time.Since(start).Round(time.Second), plan.Length.Round(time.Second), state(plan, p))
		}
	}
}

func showBar(f *os.File, plan scenarios.Plan, p *probes.Progress, done <-chan struct{}) {
	total := max(plan.Length.Milliseconds(), 1)
	bar := progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(f), progressbar.OptionSetWidth(24), progressbar.OptionSetPredictTime(false),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetElapsedTime(false), progressbar.OptionShowCount())
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	start := time.Now()
	for {
		select {
		case <-done:
			_ = bar.Finish()
			return
		case <-tick.C:
			bar.Describe(state(plan, p))
			_ = bar.Set64(min(time.Since(start).Milliseconds(), total-1))
		}
	}
}
