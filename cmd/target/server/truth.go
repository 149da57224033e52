package server

import (
	"strings"
	"sync"
)

// Truth is what really happened in one decision of the limiter. It is for
// tests, and shows the key as the client sent it. Requests that were answered
// without asking the limiter leave none.
type Truth struct {
	Seq      int64  `json:"seq"`      // from 1; those of one key are in the order of its decisions
	MonoNS   int64  `json:"mono_ns"`  // moment of the decision, nanoseconds since the server's base
	WallNS   int64  `json:"wall_ns"`  // the same moment on the server's wall clock, nanoseconds since 1970
	Key      string `json:"key"`      // empty where all clients share one budget
	Cost     int64  `json:"cost"`     // tokens asked for
	Before   int64  `json:"before"`   // level that was decided on, in units
	After    int64  `json:"after"`    // level that was stored, in units
	Unit     int64  `json:"unit"`     // units per token
	Admitted bool   `json:"admitted"` // whether the limiter let it pass
	Status   int    `json:"status"`   // HTTP status; an admitted request may still be shed, with 503 or 429
}

// chunkSize is how many records are made room for at once.
const chunkSize = 1024

// ledger keeps the latest records in a ring and wakes those who follow it. A
// decision waits for no reader: readers copy a bounded number of records at a
// time, and lose those that were overwritten before they came to them.
type ledger struct {
	mu        sync.Mutex
	chunks    [][]Truth // ring; nil chunks were not needed yet
	last      int64     // Seq of the newest record; 0: none
	followers map[chan struct{}]struct{}
}

func newLedger(keep int) *ledger {
	return &ledger{
		chunks:    make([][]Truth, (keep+chunkSize-1)/chunkSize),
		followers: make(map[chan struct{}]struct{}),
	}
}

// at is where the record seq is, or will be.
func (l *ledger) at(seq int64) (chunk *[]Truth, place int64) {
	i := (seq - 1) % l.size()
	return &l.chunks[i/chunkSize], i % chunkSize
}

func (l *ledger) size() int64 { return int64(len(l.chunks)) * chunkSize }

// add numbers the record and keeps it.
func (l *ledger) add(t Truth) {
	// The caller's string may be a piece of a whole request.
	t.Key = strings.Clone(t.Key)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	t.Seq = l.last
	chunk, place := l.at(t.Seq)
	if *chunk == nil {
		*chunk = make([]Truth, chunkSize)
	}
	(*chunk)[place] = t
	for wake := range l.followers {
		select {
		case wake <- struct{}{}:
		default: // it has been woken and not looked yet
		}
	}
}

// bounds are the first and the last record that are kept; first is last+1 if
// there are none. All before first are lost.
func (l *ledger) bounds() (first, last int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first(), l.last
}

func (l *ledger) first() int64 { return max(0, l.last-l.size()) + 1 }

// read copies the records that come after the given one, and tells how many of
// those are lost.
func (l *ledger) read(after int64, into []Truth) (n int, dropped int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	dropped = max(0, l.first()-after-1)
	for seq := after + dropped + 1; seq <= l.last && n < len(into); seq++ {
		chunk, place := l.at(seq)
		into[n] = (*chunk)[place]
		n++
	}
	return n, dropped
}

// follow gives a channel that has a value whenever records may have been added
// since the last one was taken from it, until stop is called.
func (l *ledger) follow() (wake <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.followers[c] = struct{}{}
	return c, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.followers, c)
	}
}

// Truth gives the decisions that are kept, oldest first, and how many older
// ones are lost.
func (s *Server) Truth() (kept []Truth, dropped int64) {
	first, last := s.truth.bounds()
	kept = make([]Truth, last-first+1)
	n, overtaken := s.truth.read(first-1, kept)
	return kept[:n], first - 1 + overtaken
}
