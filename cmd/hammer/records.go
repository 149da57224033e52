package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/store/lines"
	"github.com/ratehammer/ratehammer/results/store/traffic"
	"github.com/ratehammer/ratehammer/scenarios"
)

// loadLines reads a record in JSON Lines, packed or not, with the promise in its header.
func loadLines(name string) (*scenarios.Scenario, lines.Header, []results.Hit, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, lines.Header{}, nil, err
	}
	defer f.Close()
	_, r, err := traffic.Open(f)
	if r == nil {
		return nil, lines.Header{}, nil, fmt.Errorf("%s: %w", name, err)
	}
	header, hits, err := lines.Read(r, name) // whatever it looks like: it is said to be in this format
	if err != nil {
		return nil, header, nil, err
	}
	s := &scenarios.Scenario{Name: name, Target: name}
	var errs []error
	for _, l := range header.All() {
		limit, err := limitOf(l)
		errs = append(errs, err)
		s.Limits = append(s.Limits, limit)
	}
	switch {
	case len(s.Limits) == 0:
		errs = append(errs, errors.New("the header makes no promise: add \"burst\": 10, \"rate\": \"5/s\""))
	case header.Start != "" && header.Start != "full" && header.Start != "unknown":
		errs = append(errs, fmt.Errorf("start %q: write full or unknown", header.Start))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, header, nil, fmt.Errorf("%s:1: %w", name, err)
	}
	return s, header, hits, nil
}

// limitOf is a header's limit. Unlike elsewhere nothing is granted that it does
// not name: a record made by hand has no clock of its own.
func limitOf(l lines.Limit) (scenarios.Limit, error) {
	out := scenarios.Limit{Name: l.Name, Contract: scenarios.Contract(l.Contract), Align: scenarios.Align(l.Align), Burst: l.Burst,
		Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}, Answers: scenarios.DefaultAnswers(),
		Slack: scenarios.Slack{Over: l.Over, Under: l.Under}}
	var errs []error
	var err error
	if l.Rate != "" {
		if out.Rate, err = scenarios.ParseRate(l.Rate); err != nil {
			errs = append(errs, err)
		}
	}
	if l.Key != "" {
		if out.Key, err = scenarios.ParseKey(l.Key); err != nil {
			errs = append(errs, err)
		}
	}
	if l.Quantum != "" {
		if out.Slack.Quantum, err = time.ParseDuration(l.Quantum); err != nil {
			errs = append(errs, fmt.Errorf("quantum %q is not a time such as 1ms", l.Quantum))
		}
	}
	if len(errs) == 0 {
		errs = append(errs, out.Check())
	}
	return out, errors.Join(errs...)
}

// inBlocks gives hits as a recorder would: in the order of their ends, each
// block as low as is true.
func inBlocks(hits []results.Hit) blocks {
	const size = 8192
	hits = slices.Clone(hits)
	slices.SortStableFunc(hits, func(a, b results.Hit) int { return cmp.Compare(a.Done, b.Done) })
	lows := make([]int64, len(hits)+1)
	lows[len(hits)] = results.Never
	for i := len(hits) - 1; i >= 0; i-- {
		lows[i] = min(lows[i+1], hits[i].Sent)
	}
	return func(yield func(results.Block, error) bool) {
		for i := 0; i < len(hits); i += size {
			n := min(i+size, len(hits))
			if !yield(results.Block{Hits: hits[i:n], Low: lows[n]}, nil) {
				return
			}
		}
	}
}
