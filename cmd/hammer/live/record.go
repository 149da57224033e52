// Package live shows a run while it goes on: a record of little size that grows
// with each block, and a frame of text that is drawn from it. It stands beside
// the recorder and never between it and the pacer.
package live

import (
	"cmp"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

const (
	cells    = 512       // of a strip
	first    = 1_000_000 // nanoseconds of a cell at first
	mostKeys = 1000      // that get a strip of their own
)

// What a cell has seen, one bit each.
const (
	sawAdmitted = 1 << iota
	sawLimited
	sawElse
)

// Record is what has been seen of a run so far. One goroutine adds to it, and
// another draws.
type Record struct {
	mu    sync.Mutex
	width int64 // nanoseconds of a cell
	last  int   // the last cell in use
	all   strip
	keys  map[string]*strip
	late  [64 * 8]int64 // requests by how late they were sent: three bits behind the leading one
	most  int64         // the latest, nanoseconds
	count int64
	proof string // the first breach that is certain; empty: none is
}

// strip is one key's time, in cells.
type strip struct {
	name     string
	cells    [cells]uint8
	admitted int64 // tokens
	began    int64 // when its first request was sent, nanoseconds
	recent   int64 // when its last one was
}

// NewRecord has seen nothing.
func NewRecord() *Record {
	return &Record{width: first, keys: map[string]*strip{}, all: strip{name: "all keys"}}
}

// Block adds a piece of the record.
func (r *Record) Block(b results.Block) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range b.Hits {
		h := &b.Hits[i]
		for h.Sent/r.width >= cells {
			r.halve()
		}
		r.all.add(h, r.width)
		r.last = max(r.last, int(max(h.Sent, 0)/r.width))
		if s := r.strip(h); s != nil {
			s.add(h, r.width)
		}
		late := max(h.Sent-h.Planned, 0)
		r.late[bucket(late)]++
		r.most = max(r.most, late)
		r.count++
	}
}

// Prove notes what is certain to be broken; the first says it.
func (r *Record) Prove(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.proof == "" {
		r.proof = text
	}
}

func (r *Record) strip(h *results.Hit) *strip {
	s := r.keys[h.Key]
	if s == nil && len(r.keys) < mostKeys {
		s = &strip{name: h.Key, began: h.Sent}
		r.keys[h.Key] = s
	}
	return s
}

func (s *strip) add(h *results.Hit, width int64) {
	saw := uint8(sawElse)
	switch h.Outcome {
	case results.Admitted:
		saw = sawAdmitted
		s.admitted += max(h.Cost, 1)
	case results.Limited:
		saw = sawLimited
	}
	s.cells[max(h.Sent, 0)/width] |= saw
	s.recent = max(s.recent, h.Sent)
}

// halve makes one cell of two, so that a run of any length fits.
func (r *Record) halve() {
	r.all.halve()
	for _, s := range r.keys {
		s.halve()
	}
	r.width *= 2
	r.last /= 2
}

func (s *strip) halve() {
	for c := range cells / 2 {
		s.cells[c] = s.cells[2*c] | s.cells[2*c+1]
	}
	clear(s.cells[cells/2:])
}

// bucket is where a length lies among lengths that differ by an eighth.
func bucket(ns int64) int {
	n := bits.Len64(uint64(ns))
	if n <= 4 {
		return int(ns)
	}
	return n*8 + int(ns>>(n-4))&7
}

// lateness is the length that a share of the requests was not later than, to an
// eighth of it.
func (r *Record) lateness(share float64) time.Duration {
	need := int64(share * float64(r.count))
	for b, n := range r.late {
		if need -= n; need <= 0 && n > 0 {
			if b < 32 {
				return time.Duration(min(int64(b), r.most))
			}
			return time.Duration(min(int64(8+b%8+1)<<(b/8-4), r.most))
		}
	}
	return time.Duration(r.most)
}

// recent are the keys that were used last, at most n, in the order of their first
// requests, so that they change places seldom.
func (r *Record) recent(n int) []*strip {
	all := make([]*strip, 0, len(r.keys))
	for _, s := range r.keys {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *strip) int { return cmp.Or(cmp.Compare(b.recent, a.recent), cmp.Compare(a.name, b.name)) })
	all = all[:min(n, len(all))]
	slices.SortFunc(all, func(a, b *strip) int { return cmp.Or(cmp.Compare(a.began, b.began), cmp.Compare(a.name, b.name)) })
	return all
}
