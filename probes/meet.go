package probes

import (
	"context"
	"sync"
	"time"
)

// Meet makes the next runs of the guns begin at one moment: each waits until all are
// ready, so that the clocks of their records are the same.
func Meet(guns ...*Gun) {
	m := &meeting{missing: len(guns), met: make(chan struct{})}
	for _, g := range guns {
		g.meeting = m
	}
}

// meeting is where runs wait for each other.
type meeting struct {
	mu      sync.Mutex
	missing int
	met     chan struct{} // is closed when all are there
	at      time.Time
}

// begin is the moment since which a run counts. One that is stopped waits no longer.
func (m *meeting) begin(ctx context.Context) time.Time {
	if m == nil {
		return time.Now()
	}
	m.mu.Lock()
	if m.missing--; m.missing == 0 {
		m.at = time.Now()
		close(m.met)
	}
	m.mu.Unlock()
	select {
	case <-m.met:
		return m.at
	case <-ctx.Done():
		return time.Now()
	}
}
