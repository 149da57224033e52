package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/ratehammer/ratehammer/cmd/hammer/metrics"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/store"
	"github.com/ratehammer/ratehammer/scenarios"
)

// watchedAs makes the test binary fire at the URL that is its argument, with the record
// going where the value says, and end.
const watchedAs = "HAMMER_WATCHED"

// Where the record goes: nowhere, to a folder, and from there on to a terminal or to
// Prometheus.
var watchings = []string{"nothing", "recorder", "live view", "prometheus"}

// sinks hand a block on, one after the other.
type sinks []func(results.Block) error

func (s sinks) Block(b results.Block) error {
	for _, to := range s {
		if err := to(b); err != nil {
			return err
		}
	}
	return nil
}

// watched fires a steady pace on 20 keys for so long, and says how much was sent.
func watched(as, url, dir string, length time.Duration) error {
	const rate = 5000
	s, err := scenarios.Parse("watched", fmt.Appendf(nil, "limit: {burst: 100, rate: 1000/s}\nphases: [{name: load, at: 100ms, pace: %d/s, count: %d, keys: 20}]\n", rate/20, int(length.Seconds()*rate/20)), nil)
	if err != nil {
		return err
	}
	plan, err := s.Plan(scenarios.Supply{})
	if err != nil {
		return err
	}
	l := s.Limits[0]
	gun, err := probes.Aim(context.Background(), probes.Target{URL: url, Key: l.Key, Answers: l.Answers, Nonce: "w"})
	if err != nil {
		return err
	}
	defer gun.Close()
	var to sinks
	p, begun := &probes.Progress{}, time.Now()
	if as != "nothing" {
		w, err := store.Create(dir, store.Manifest{Scenario: string(s.YAML()), Phases: plan.Phases})
		if err != nil {
			return err
		}
		defer w.Close(store.Manifest{Scenario: string(s.YAML()), Phases: plan.Phases})
		to = append(to, w.Write)
	}
	switch as {
	case "live view":
		v := newViewer(&console{talk: os.Stderr}, s.Limits)
		if v.screen == nil {
			return fmt.Errorf("there is no terminal to draw on")
		}
		to = append(to, func(b results.Block) error {
			v.block(b, func() (f results.Finding, ok bool) { return f, false })
			return nil
		})
		defer v.show(plan, p, begun)()
	case "prometheus":
		m := metrics.New(1000, func() metrics.State { return metrics.State{Seconds: time.Since(begun).Seconds()} })
		to = append(to, func(b results.Block) error { m.Block(b); return nil })
		server := &http.Server{Handler: m, Addr: os.Getenv("HAMMER_SCRAPED"), ReadHeaderTimeout: time.Second}
		go server.ListenAndServe()
		defer server.Close()
	}
	run, err := gun.Fire(context.Background(), plan, l.Slack, probes.Tick(), to, p)
	fmt.Println(run.Sent, run.Missed)
	return err
}
