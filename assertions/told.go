package assertions

import (
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// told is what a refusal said.
type told struct {
	seq  int64
	sent int64 // nanoseconds: when the refused request left
	at   int64 // nanoseconds: when the refusal was received
	cost int64
	wait time.Duration // what it asked for
	late time.Duration // what rounding alone may have added
}

// due is what a refusal said, for those that left after it was received.
type due struct {
	told
	judged bool // somebody was admitted behind it
	loose  bool // and somebody earlier than it had said
}

// tells is what a refusal with a readable Retry-After said.
func (f *flight) tells() told {
	return told{seq: f.hit.Seq, sent: f.hit.Sent, at: f.hit.First, cost: f.hit.Cost,
		wait: max(f.asks.Wait, 0), late: f.asks.Grain()}
}

// copied is the request, to be kept when its block is let go. It is a function of
// its own so that only who keeps one pays for the copy.
func (f *flight) copied() *results.Hit {
	h := *f.hit
	return &h
}
