package main

import (
	"io"
	"time"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report/page"
	"github.com/ratehammer/ratehammer/results/store"
	"github.com/ratehammer/ratehammer/scenarios"
)

// html writes the page of a run.
func (s shown) html(w io.Writer) error {
	source := page.Source{
		Report: s.report, Hits: s.look.hits, Shares: store.Shares(),
		Slack:  int64(slackOf(s.look.scenario.Limits).Quantum + time.Millisecond),
		Record: func(f func(results.Block)) { s.record.all(f) },
		Allowed: func(limit string, window int64) (float64, bool) {
			for _, l := range s.look.scenario.Limits {
				if l.Name == limit || limit == "" || l.Name == "" {
					return allowed(l, time.Duration(window))
				}
			}
			return 0, false
		},
	}
	for _, p := range s.look.scenario.Phases {
		source.Phases = append(source.Phases, p.Name)
	}
	for _, q := range s.look.latency.Quantiles() {
		source.Latency = append(source.Latency, page.Latency{Outcome: q.Outcome.String(), Planned: q.Planned, Count: q.Count, NS: q.NS})
	}
	for _, a := range assertions.All() {
		source.Glossary = append(source.Glossary, page.Term{Word: a.ID, Means: a.Says})
	}
	return page.Write(w, source)
}

// allowed is the most that a limit admits in a closed window, for drawing: the
// curves of docs/checks.md without slack. A limit on what is at work at once says
// nothing of windows.
func allowed(l scenarios.Limit, window time.Duration) (float64, bool) {
	b, n := float64(l.Burst), float64(l.Rate.Count)
	if l.Rate.Per <= 0 {
		return 0, false
	}
	periods := window / l.Rate.Per // whole ones
	begun := (window + l.Rate.Per - 1) / l.Rate.Per
	flow := n * window.Seconds() / l.Rate.Per.Seconds()
	switch l.Contract {
	case scenarios.FixedWindow, scenarios.Quota:
		return n * float64(begun+1), true
	case scenarios.SlidingLog:
		return n * float64(periods+1), true
	case scenarios.SlidingCounter:
		return n + 1 + flow, true
	case scenarios.Lumps:
		return b + min(n, b)*float64(begun), true
	case scenarios.Queue:
		return b + 1 + flow, true
	case scenarios.Concurrency:
		return 0, false
	}
	return b + flow, true
}
