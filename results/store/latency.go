package store

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ratehammer/ratehammer/results"
)

const (
	latencyName = "latency.hlog"
	longest     = 3600 * 1_000_000_000 // nanoseconds; what took longer is counted as this
	latencyFine = 3                    // significant decimal digits that are kept
)

// Latency gathers how long answers took and how late requests were sent. Times
// are kept twice: from when a request was sent, and from when it was due, so
// that a stall of ours or of the server is not left out of the picture
// (coordinated omission). Each outcome has its own pair, since fast refusals
// would flatter what they are mixed with. It is for one goroutine.
type Latency struct {
	outcomes [4]pair
	late     *hdrhistogram.Histogram
	last     int64 // nanoseconds: the latest end
}

type pair struct{ actual, intended *hdrhistogram.Histogram }

// NewLatency has counted nothing.
func NewLatency() *Latency {
	l := &Latency{late: newHistogram("lateness")}
	for o := range l.outcomes {
		name := results.Outcome(o).String()
		l.outcomes[o] = pair{newHistogram(name + "-from-sent"), newHistogram(name + "-from-planned")}
	}
	return l
}

func newHistogram(tag string) *hdrhistogram.Histogram {
	h := hdrhistogram.New(1, longest, latencyFine)
	h.SetTag(tag)
	return h
}

// Block counts the hits of a piece of the record. Requests without an answer
// are counted up to when they were given up.
func (l *Latency) Block(b results.Block) {
	for i := range b.Hits {
		h := &b.Hits[i]
		end := h.Done
		if h.Answered() {
			end = h.First
		}
		p := l.outcomes[h.Outcome&3]
		note(p.actual, end-h.Sent)
		note(p.intended, end-h.Planned)
		note(l.late, h.Sent-h.Planned)
		if h.Done != results.Never {
			l.last = max(l.last, h.Done)
		}
	}
}

func note(h *hdrhistogram.Histogram, ns int64) {
	// In range by the line above it, so there is no error to hear of.
	_ = h.RecordValue(min(max(ns, 1), longest))
}

// Lateness is how late requests were sent, in sum.
func (l *Latency) Lateness() results.Lateness {
	if l.late.TotalCount() == 0 {
		return results.Lateness{}
	}
	return results.Lateness{P50NS: l.late.ValueAtQuantile(50), P99NS: l.late.ValueAtQuantile(99), MaxNS: l.late.Max()}
}

// Save writes the histograms as an HdrHistogram log into a run's folder, one
// line each, tagged with what it is; values are nanoseconds.
func (l *Latency) Save(dir string) error {
	path := filepath.Join(dir, latencyName)
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	buffer := bufio.NewWriter(f)
	if err = l.write(hdrhistogram.NewHistogramLogWriter(buffer)); err == nil {
		err = buffer.Flush()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

func (l *Latency) write(w *hdrhistogram.HistogramLogWriter) error {
	if err := w.OutputLogFormatVersion(); err != nil {
		return err
	}
	if err := w.OutputLegend(); err != nil {
		return err
	}
	all := []*hdrhistogram.Histogram{l.late}
	for _, p := range l.outcomes {
		all = append(all, p.actual, p.intended)
	}
	for _, h := range all {
		if h.TotalCount() == 0 {
			continue
		}
		h.SetStartTimeMs(0)
		h.SetEndTimeMs(l.last / 1_000_000)
		if err := w.OutputIntervalHistogram(h); err != nil {
			return err
		}
	}
	return nil
}
