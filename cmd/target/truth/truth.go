// Package truth keeps what limiters have really decided, for tests to compare
// with what they have seen. It stands beside store, knows nothing of requests or
// limiters, and is filled by server.
package truth

import (
	"strings"
	"sync"
)

// Record is what one limit has really decided of one request. A request that
// asked several limits leaves one record for each, next to each other; one that
// was answered without asking any leaves none. The key is shown as the client
// sent it, as far as it is not longer than keys are remembered.
type Record struct {
	Seq       int64  `json:"seq"`              // from 1; those of one key are in the order of its decisions, where its store is in this process
	Request   int64  `json:"request"`          // Seq of the first record of the same request
	MonoNS    int64  `json:"mono_ns"`          // moment of the decision, nanoseconds since the base of the node's clock; of a store elsewhere: when its answer was there
	FromNS    int64  `json:"from_ns"`          // the decision was not made before; the same moment where the states are in this process
	WallNS    int64  `json:"wall_ns"`          // MonoNS on the server's wall clock, nanoseconds since 1970
	DecidedNS int64  `json:"decided_ns"`       // moment that the limiter went by, nanoseconds since 1970 on the clock of its store; 0: no store decided
	Node      int    `json:"node,omitempty"`   // number of the node that decided, from 1; 0: there is only one
	Route     string `json:"route"`            // path of the route
	Limit     string `json:"limit"`            // name of the limit
	Key       string `json:"key"`              // empty where all clients share one budget
	Cost      int64  `json:"cost"`             // tokens asked for
	Before    int64  `json:"before"`           // level that was decided on, in units
	After     int64  `json:"after"`            // level that was stored, in units
	Unit      int64  `json:"unit"`             // units per token
	Admitted  bool   `json:"admitted"`         // whether all limits let the request pass
	Refused   bool   `json:"refused"`          // whether this limit did not
	DelayNS   int64  `json:"delay_ns"`         // that the request is held back, nanoseconds
	Status    int    `json:"status"`           // HTTP status; an admitted request may still be shed, with 503 or 429
	Policy    string `json:"policy,omitempty"` // what answered in the place of a store that was down: open, closed or local; empty: the store
}

// chunkSize is how many records are made room for at once.
const chunkSize = 1024

// Ledger keeps the latest records in a ring and wakes those who follow it. A
// decision waits for no reader: readers copy a bounded number of records at a
// time, and lose those that were overwritten before they came to them.
type Ledger struct {
	mu        sync.Mutex
	chunks    [][]Record // ring; nil chunks were not needed yet
	last      int64      // Seq of the newest record; 0: none
	followers map[chan struct{}]struct{}
}

// NewLedger gives a ledger that keeps so many records, rounded up to 1024s.
func NewLedger(keep int) *Ledger {
	return &Ledger{
		chunks:    make([][]Record, max(1, (keep+chunkSize-1)/chunkSize)),
		followers: make(map[chan struct{}]struct{}),
	}
}

// at is where the record seq is, or will be.
func (l *Ledger) at(seq int64) *Record {
	i := (seq - 1) % l.size()
	chunk := &l.chunks[i/chunkSize]
	if *chunk == nil {
		*chunk = make([]Record, chunkSize)
	}
	return &(*chunk)[i%chunkSize]
}

func (l *Ledger) size() int64 { return int64(len(l.chunks)) * chunkSize }

// Add numbers the records of one request and keeps them.
func (l *Ledger) Add(records []Record) {
	for i := range records {
		// The caller's string may be a piece of a whole request.
		records[i].Key = strings.Clone(records[i].Key)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	request := l.last + 1
	for i := range records {
		l.last++
		place := l.at(l.last)
		*place = records[i]
		place.Seq, place.Request = l.last, request
	}
	for wake := range l.followers {
		select {
		case wake <- struct{}{}:
		default: // it has been woken and not looked yet
		}
	}
}

// Bounds are the first and the last record that are kept; first is last+1 if
// there are none. All before first are lost.
func (l *Ledger) Bounds() (first, last int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first(), l.last
}

func (l *Ledger) first() int64 { return max(0, l.last-l.size()) + 1 }

// Read copies the records that come after the given one, and tells how many of
// those are lost.
func (l *Ledger) Read(after int64, into []Record) (n int, dropped int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	dropped = max(0, l.first()-after-1)
	for seq := after + dropped + 1; seq <= l.last && n < len(into); seq++ {
		into[n] = *l.at(seq)
		n++
	}
	return n, dropped
}

// All gives the records that are kept, oldest first, and how many older ones are
// lost.
func (l *Ledger) All() (kept []Record, dropped int64) {
	first, last := l.Bounds()
	kept = make([]Record, last-first+1)
	n, overtaken := l.Read(first-1, kept)
	return kept[:n], first - 1 + overtaken
}

// Follow gives a channel that has a value whenever records may have been added
// since the last one was taken from it, until stop is called.
func (l *Ledger) Follow() (wake <-chan struct{}, stop func()) {
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
