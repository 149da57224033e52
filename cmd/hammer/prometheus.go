package main

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/ratehammer/ratehammer/cmd/hammer/metrics"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/scenarios"
)

// exposed is a run's numbers at an address, for as long as it goes on.
type exposed struct {
	*metrics.Metrics
	server *http.Server
	served chan struct{}
}

// expose tells the numbers at an address, which is on this machine alone unless it
// names another. Without an address there is nothing, and nil.
func (s *session) expose(p *probes.Progress, begun time.Time) (*exposed, error) {
	if s.saving.prometheus == "" {
		return nil, nil
	}
	host, port, err := net.SplitHostPort(s.saving.prometheus)
	if err != nil {
		return nil, &probes.Hinted{Err: fmt.Errorf("--prometheus %s: %w", s.saving.prometheus, err), Hint: "write HOST:PORT or :PORT, such as --prometheus :9464"}
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, &probes.Hinted{Err: fmt.Errorf("--prometheus %s: %w", s.saving.prometheus, err), Hint: "give another port, or 0 for any that is free"}
	}
	e := &exposed{Metrics: metrics.New(promised(s.scenario.Limits), s.stateOf(p, begun)), served: make(chan struct{})}
	e.server = &http.Server{Handler: e.Metrics, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second}
	go func() {
		defer close(e.served)
		_ = e.server.Serve(l) // ends with Close
	}()
	s.console.sayf("numbers for Prometheus at http://%s/metrics while it runs", l.Addr())
	return e, nil
}

// promised is the rate of the first limit, in tokens a second.
func promised(limits []scenarios.Limit) float64 {
	if len(limits) == 0 || limits[0].Rate.Per <= 0 {
		return 0
	}
	return limits[0].Rate.PerSecond()
}

func (s *session) stateOf(p *probes.Progress, begun time.Time) func() metrics.State {
	phases := s.plan.Phases // of what is asked; those of follow-ups come behind them
	return func() metrics.State {
		state := metrics.State{Seconds: time.Since(begun).Seconds(), Planned: p.Planned.Load(), Missed: p.Missed.Load()}
		if state.Phase = "follow-up"; int(p.Phase.Load()) < len(phases) {
			state.Phase = phases[p.Phase.Load()]
		}
		return state
	}
}

// close ends the telling; a nil one has nothing to end.
func (e *exposed) close() {
	if e == nil {
		return
	}
	e.server.Close()
	<-e.served
}
