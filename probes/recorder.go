package probes

import (
	"sync"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// Sink takes the record as it grows. An error ends the run; what was taken in
// before stays.
type Sink interface {
	Block(results.Block) error
}

const (
	blockSize  = 4096                   // hits in a block at most
	blockEvery = 100 * time.Millisecond // and how long one stays open
	copied     = 256                    // hits of a loop that are copied into a block at most; more are one of their own
)

// recorder gathers hits and marks into blocks and hands them on, in a goroutine
// of its own: whoever records waits for no sink.
type recorder struct {
	sink Sink
	clk  clock

	mu      sync.Mutex
	block   results.Block
	flights []*ticket // in the order they left; ended ones stay until they are first
	vouched int64     // up to here our own clock was seen to run
	looped  []int64   // by loop: what it will hand over later was not sent before this
	ready   []results.Block
	owed    int        // blocks that the sink has not taken in yet
	paid    *sync.Cond // told when owed has fallen
	err     error
	fail    func(error) // told of err
	wake    chan struct{}
	done    chan struct{}
}

// ticket stands for a request in flight: it will not turn out to have left
// before at.
type ticket struct {
	at    int64
	ended bool
}

func newRecorder(sink Sink, clk clock, fail func(error)) *recorder {
	r := &recorder{sink: sink, clk: clk, fail: fail, wake: make(chan struct{}, 1), done: make(chan struct{})}
	r.paid = sync.NewCond(&r.mu)
	go r.deliver()
	return r
}

// begin registers a request that is about to leave.
func (r *recorder) begin() *ticket {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &ticket{at: r.clk.now()}
	r.flights = append(r.flights, t)
	return t
}

// end records how it went.
func (r *recorder) end(t *ticket, h results.Hit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.ended = true
	r.block.Hits = append(r.block.Hits, h)
	if len(r.block.Hits) >= blockSize {
		r.closeBlock()
	}
}

// hand takes over hits of the n-th loop; none that it hands over later was sent before
// low. A slice with hits in it is the recorder's from then on.
func (r *recorder) hand(n int, hits []results.Hit, low int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(hits) >= copied && len(r.block.Hits) > 0 {
		r.closeBlock() // before low is known: it is of what comes behind these hits
	}
	for len(r.looped) <= n {
		r.looped = append(r.looped, low)
	}
	r.looped[n] = low
	switch {
	case len(hits) == 0: // the slice is not taken over
	case len(r.block.Hits) == 0:
		r.block.Hits = hits
	default:
		r.block.Hits = append(r.block.Hits, hits...)
	}
	if len(r.block.Hits) >= blockSize {
		r.closeBlock()
	}
}

// drop lets go of a ticket for which nothing is recorded any more.
func (r *recorder) drop(t *ticket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.ended = true
}

// endMark records what a mark tells that took its time, since the ticket.
func (r *recorder) endMark(t *ticket, m results.Mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.ended = true
	m.At = t.at
	r.block.Marks = append(r.block.Marks, m)
}

func (r *recorder) mark(m results.Mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.block.Marks = append(r.block.Marks, m)
}

// vouch says that the clock was seen to run up to t, and any jump before it is
// on record.
func (r *recorder) vouch(t int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.vouched = t
}

// flush closes the open block. Call it every blockEvery.
func (r *recorder) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closeBlock()
}

// closeBlock hands the open block on. No later hit was sent before the oldest
// request in flight left, nor a later mark before our clock was last vouched for.
func (r *recorder) closeBlock() {
	n := 0
	for n < len(r.flights) && r.flights[n].ended {
		n++
	}
	r.flights = append(r.flights[:0], r.flights[n:]...)
	low := r.vouched
	for _, l := range r.looped {
		low = min(low, l)
	}
	if len(r.flights) > 0 {
		low = min(low, r.flights[0].at)
	}
	r.block.Low = low
	r.ready = append(r.ready, r.block)
	r.owed++
	r.block = results.Block{}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// deliver hands blocks to the sink until close.
func (r *recorder) deliver() {
	defer close(r.done)
	for range r.wake {
		r.mu.Lock()
		ready := r.ready
		r.ready = nil
		r.mu.Unlock()
		for _, b := range ready {
			if r.failed() != nil {
				break
			}
			if err := r.sink.Block(b); err != nil {
				r.mu.Lock()
				r.err = err
				r.mu.Unlock()
				r.fail(err)
			}
		}
		r.mu.Lock()
		r.owed -= len(ready)
		r.paid.Broadcast()
		r.mu.Unlock()
	}
}

// settle waits until the sink has all that was recorded so far, or has failed.
func (r *recorder) settle() {
	r.flush()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.owed > 0 && r.err == nil {
		r.paid.Wait()
	}
}

// failed is the sink's error, or nil.
func (r *recorder) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// close hands on what is left and waits for the sink.
func (r *recorder) close() error {
	r.flush()
	close(r.wake)
	<-r.done
	return r.failed()
}
