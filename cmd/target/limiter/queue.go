package limiter

import (
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Queue is the leaky bucket as a queue: up to burst requests wait, one is
// released each 1/rate, and one that comes while none waits and none was
// released in the last 1/rate is released at once. What finds the queue full is
// refused. A key takes 16 bytes: the moment at which the next one is released.
//
// It admits who would wait at most b/r. So it accepts what GCRA with a
// tolerance of b/r does: at most floor(b + 1 + rT) in a closed window of length
// T, one more than a bucket of b, for the one that is released at once has no
// place in the queue. What it releases is even: at most floor(rT) + 1 in any
// window.
//
// A request of cost c is released when the first of its c places is and keeps
// those of the others free, so of such requests it releases floor(rT) + c.
type Queue struct {
	schedule
	promise scenarios.Limit
}

func queue() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "queue",
			Settings: "burst=TOKENS,rate=TOKENS/TIME",
			Example:  "queue{burst=10,rate=5/1s}",
			Text:     "The leaky bucket as a queue: up to burst requests wait and one is released each 1/rate, so at most rate*T + 1 are released in any time T and none waits longer than burst/rate.",
		},
		build: burstAndRate(NewQueue),
	}
}

// NewQueue gives a queue in which burst requests can wait. It returns an error
// if the two are no limit, or if burst+1 tokens are more than MaxLevel units.
func NewQueue(burst int64, rate scenarios.Rate) (*Queue, error) {
	p := scenarios.Limit{Contract: scenarios.Queue, Burst: burst, Rate: rate}
	s, err := checked("queue", p, burst+1)
	if err != nil {
		return nil, err
	}
	return &Queue{schedule: schedule{s}, promise: p}, nil
}

// Promise is the places to wait in, and the rate.
func (q *Queue) Promise() scenarios.Limit { return q.promise }

// Fresh releases at once.
func (q *Queue) Fresh(now int64) State { return &Slot{At: now} }

// Decide gives a place in the queue, if there is one, and tells how long it is
// until it is released. A refusal changes nothing.
func (q *Queue) Decide(s State, now, cost int64) (d Decision, err error) {
	if cost < 1 || cost > q.tokens() {
		return d, &CostError{Cost: cost, Most: q.tokens()}
	}
	k := s.(*Slot)
	before := q.room(*k, now)
	start, wait, ok := q.book(k, now, cost*q.unit)
	q.tell(&d, before, *k, now, q.tokens())
	d.Admitted, d.Wait = ok, wait
	if ok {
		d.Delay = q.until(start, now)
	}
	return d, nil
}

// tokens is what a key that was never used has room for: one to be released at
// once, and the queue.
func (q *Queue) tokens() int64 { return q.promise.Burst + 1 }

// View gives no place.
func (q *Queue) View(s State, now int64) (d Decision) {
	k := *s.(*Slot)
	q.tell(&d, q.room(k, now), k, now, q.tokens())
	return d
}

// Forgettable reports whether the next one would be released at once.
func (q *Queue) Forgettable(s State, now int64) bool { return !s.(*Slot).isAfter(now) }
