package main

import (
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
	"github.com/ratehammer/ratehammer/results/store"
	"github.com/ratehammer/ratehammer/scenarios"
)

// look is what a report shows of a record beside its verdict, gathered while the
// record goes by.
type look struct {
	scenario *scenarios.Scenario
	latency  *store.Latency
	strip    *report.Strip
	hits     int64
}

func newLook(s *scenarios.Scenario) *look {
	return &look{scenario: s, latency: store.NewLatency(), strip: report.NewStrip()}
}

func (l *look) block(b results.Block) {
	l.latency.Block(b)
	l.strip.Block(b)
	l.hits += int64(len(b.Hits))
}
