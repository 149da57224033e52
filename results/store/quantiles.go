package store

import (
	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ratehammer/ratehammer/results"
)

// Quantiles is how long one kind of answer took, from the fastest to the slowest.
type Quantiles struct {
	Outcome results.Outcome
	Planned bool    // from when the request was due; false: from when it was sent
	Count   int64   // requests
	NS      []int64 // by Shares: nanoseconds that this share of them did not exceed
}

// Shares are the percentages that Quantiles are given for, rising.
func Shares() []float64 {
	return []float64{0, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 100}
}

// Quantiles are those of each outcome that came up, from both beginnings.
func (l *Latency) Quantiles() (all []Quantiles) {
	for o, p := range l.outcomes {
		if p.actual.TotalCount() == 0 {
			continue
		}
		outcome := results.Outcome(o)
		all = append(all, quantilesOf(p.actual, outcome, false), quantilesOf(p.intended, outcome, true))
	}
	return all
}

func quantilesOf(h *hdrhistogram.Histogram, o results.Outcome, planned bool) Quantiles {
	q := Quantiles{Outcome: o, Planned: planned, Count: h.TotalCount()}
	for _, share := range Shares() {
		q.NS = append(q.NS, h.ValueAtQuantile(share))
	}
	return q
}
