package assertions

import (
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// tally counts outcomes, and measures how uneven the load was that a limit saw:
// the offered burstiness is the smallest bucket that admits, at the promised
// rate, every request that was sent on a key. A limiter with a smaller one must
// refuse, whatever the mean rate was.
type tally struct {
	limit    scenarios.Limit
	tempo    tempo // in nanoseconds
	acted    *acted
	outcomes [4]int64
	lost     []int64 // by phase: neither admitted nor refused
	losses   losses  // why they were
	silent   silence // requests without any answer
	offered  []queue // by slot
	planned  []queue
	last     int64 // nanoseconds: the latest end
}

// queue is a bucket without a bottom: its highest level is the capacity that
// would have been needed.
type queue struct {
	at, level, most int64
}

func newTally(l scenarios.Limit) *tally {
	return &tally{limit: l, tempo: newTempo(l.Rate, 0, 1, l.Burst, roundUp)}
}

func (t *tally) hear(events []event) {
	for _, e := range events {
		if e.kind != starts {
			continue
		}
		h := e.f.hit
		t.count(h)
		s := slot(t.limit, e.f.key)
		for int(s) >= len(t.offered) {
			t.offered = append(t.offered, queue{})
			t.planned = append(t.planned, queue{})
		}
		t.offered[s].add(t.tempo, h.Sent, h.Cost)
		t.planned[s].add(t.tempo, h.Planned, h.Cost)
	}
}

// count counts a request by its outcome.
func (t *tally) count(h *results.Hit) {
	t.outcomes[h.Outcome&3]++
	t.losses.count(h)
	t.lose(h)
	if h.Answered() {
		t.last = max(t.last, h.First)
	} else if wait := h.Done - h.Sent; h.Done != results.Never && wait >= patience {
		t.silent.n++
		t.silent.wait = max(t.silent.wait, wait)
	}
}

// silence are requests that were given up, without an answer, after a wait. What
// fails sooner was not waited for: nobody was there.
type silence struct {
	n    int64
	wait int64 // nanoseconds: the longest of them
}

// patience is from when on it was a wait.
const patience = int64(time.Second)

// lose counts a request that says nothing of the limiter.
func (t *tally) lose(h *results.Hit) {
	if h.Outcome == results.Admitted || h.Outcome == results.Limited || h.Phase < 0 || t.acted.excuses(h) {
		return
	}
	for int(h.Phase) >= len(t.lost) {
		t.lost = append(t.lost, 0)
	}
	t.lost[h.Phase]++
	t.losses.inPhase(h)
}

func (q *queue) add(p tempo, at, cost int64) {
	if at > q.at {
		q.level = max(0, q.level-p.gain(at-q.at))
		q.at = at
	}
	q.level = min(q.level+p.weigh(cost), levelLimit)
	q.most = max(q.most, q.level)
}

func (t *tally) most(qs []queue) float64 {
	var m int64
	for _, q := range qs {
		m = max(m, q.most)
	}
	return t.tempo.tokens(m)
}

// fill puts what was counted into the run's own account.
func (t *tally) fill(r *results.Run) {
	r.Unknown, r.Admitted = t.outcomes[results.Unknown], t.outcomes[results.Admitted]
	r.Limited, r.Other = t.outcomes[results.Limited], t.outcomes[results.Other]
	for i := range min(len(r.Phases), len(t.lost)) {
		r.Phases[i].Lost = t.lost[i]
	}
	r.OfferedBurst, r.PlannedBurst = t.most(t.offered), t.most(t.planned)
	r.LastedNS = max(r.LastedNS, t.last)
}

// total is how many requests there were.
func (t *tally) total() (n int64) {
	for _, k := range t.outcomes {
		n += k
	}
	return n
}
