// Package metrics tells a run's numbers to Prometheus while it goes on. It stands
// beside the recorder, hears of each request when its block is on record, and
// decides nothing.
package metrics

import (
	"net/http"
	"sync"

	"github.com/ratehammer/ratehammer/results"
)

// mostKeys is for how many keys the offered burst is followed.
const mostKeys = 10_000

// Metrics are a run's numbers so far.
type Metrics struct {
	rate float64 // tokens a second that are promised; 0: none, and no burst is followed
	now  func() State

	mu       sync.Mutex
	requests [4]int64     // by outcome
	answers  [4]histogram // from when a request was sent
	due      [4]histogram // from when it was due
	late     histogram
	keys     map[string]*bucket
	burst    float64
}

// State is what a run knows of itself that is in no record yet.
type State struct {
	Phase           string
	Seconds         float64 // since its start
	Planned, Missed int64
}

// bucket is the smallest that admits what was sent on a key.
type bucket struct {
	level float64 // tokens
	last  int64   // nanoseconds
}

// New is for a run against a promise of so many tokens a second; now is asked
// whenever somebody looks.
func New(rate float64, now func() State) *Metrics {
	return &Metrics{rate: rate, now: now, keys: map[string]*bucket{}}
}

// Block counts a piece of the record.
func (m *Metrics) Block(b results.Block) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range b.Hits {
		h := &b.Hits[i]
		o := h.Outcome & 3
		m.requests[o]++
		m.late.add(h.Sent - h.Planned)
		if h.Answered() {
			m.answers[o].add(h.First - h.Sent)
			m.due[o].add(h.First - h.Planned)
		}
		m.offer(h)
	}
}

// offer follows the offered burst. Requests come in the order of their ends, so it
// may be too high by what was in flight at once; the report has it exactly.
func (m *Metrics) offer(h *results.Hit) {
	if m.rate <= 0 {
		return
	}
	k := m.keys[h.Key]
	if k == nil {
		if len(m.keys) == mostKeys {
			return
		}
		k = &bucket{last: h.Sent}
		m.keys[h.Key] = k
	}
	passed := float64(max(0, h.Sent-k.last)) / 1e9
	k.level = max(0, k.level-m.rate*passed) + float64(max(h.Cost, 1))
	k.last = max(k.last, h.Sent)
	m.burst = max(m.burst, k.level)
}

// ServeHTTP answers with the numbers, whatever the path: there is nothing else here.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "there is nothing here but numbers to GET", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_ = m.write(w) // who asked has gone
}
