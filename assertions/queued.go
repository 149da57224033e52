package assertions

import (
	"cmp"
	"slices"

	"github.com/ratehammer/ratehammer/results"
)

// queued judges the refusals of a queue: one request is released at once, then
// one each 1/r, and up to so many wait. What comes is let in if it would wait at
// most places/r, which is a bucket of places+1 tokens. But an answer comes only
// when its request is released, so that its interval is as long as the wait, and
// a bucket charged for so long proves nothing. A refusal tells more:
//
// Let T be the moment at which the next one could be released. A request is
// refused at d if T - d > places/r. Those let in before have the moments T - 1/r,
// T - 2/r, and so on, as far back as the queue was never empty, and places of
// them lie behind d: so many are let in by d and not yet answered. Of those in
// flight during the refusal's interval that is all but a few; whichever these
// few are, at any later moment they are no more than the few with the latest
// ends. The others were decided by the refusal's end.
//
// Where fewer than places were in flight, the refusal was wrong.
type queued struct {
	pessimist
	places int64
	flying []flying // that spend, until no refusal in flight left before their end
	blind  int64    // ticks: until here requests that we did not see may be waiting
	wait   int64    // ticks: the longest
}

// flying is a request that may be waiting.
type flying struct {
	from, to, cost, seq int64
	decided             bool // by now, for certain
}

// newQueued is a queue with so many places besides the one that is released.
func newQueued(down tempo, places, wait, at int64, fresh bool, step int64) *queued {
	q := &queued{pessimist: newPessimist(down, places+1, at, fresh, step), places: places, wait: wait, blind: at}
	if !fresh {
		q.blind = at + wait
	}
	return q
}

func (q *queued) start(x *brief) {
	if !x.spends() {
		q.refuse(x.from)
		return
	}
	q.spend(x.from, x.cost)
	f := flying{from: x.from, to: x.to, cost: x.cost, seq: x.seq}
	if x.outcome != results.Admitted { // whatever was answered, it may wait on
		f.to += q.wait
	}
	if x.cost != 1 { // it takes several places, of which it waits in one
		q.blind = max(q.blind, f.to+q.wait)
	}
	q.flying = append(q.flying, f)
}

func (q *queued) end(x *brief) room {
	if x.spends() {
		i := slices.IndexFunc(q.flying, func(f flying) bool { return f.seq == x.seq })
		if i < 0 || !q.flying[i].decided {
			q.spent(x.to, x.cost)
		}
		if i >= 0 {
			q.flying[i].decided = true
		}
		return room{}
	}
	low := q.refused(x.from, x.to)
	r := room{judged: true, wrong: low.level >= q.weigh(x.cost), left: q.tokens(low.level), of: float64(q.places + 1), since: q.full}
	if x.cost == 1 && x.from > q.blind {
		waiting, decided := q.waiting(x)
		if !r.wrong && waiting < q.places {
			r.wrong, r.places = true, true
			r.left, r.of = float64(q.places-waiting), float64(q.places)
		}
		if decided < min(waiting, q.places) {
			q.decide(x)
		}
	}
	return r
}

// waiting counts those that may have been waiting at a refusal, and how many of
// them were decided by now for certain.
func (q *queued) waiting(x *brief) (all, decided int64) {
	for i := range q.flying {
		if f := &q.flying[i]; f.from <= x.to && f.to >= x.from {
			all++
			if f.decided {
				decided++
			}
		}
	}
	return all, decided
}

// decide tells that of those that may be waiting at a refusal all but a few were
// decided by its end.
func (q *queued) decide(x *brief) {
	var waiting []*flying
	for i := range q.flying {
		if f := &q.flying[i]; f.from <= x.to && f.to >= x.from {
			waiting = append(waiting, f)
		}
	}
	slices.SortFunc(waiting, func(a, b *flying) int { return cmp.Compare(a.to, b.to) })
	for _, f := range waiting[:min(len(waiting), int(q.places))] {
		if !f.decided {
			f.decided = true
			q.spent(x.to, f.cost)
		}
	}
}

func (q *queued) forget(int64) {}

// unknown: the queue may be full of what we did not see.
func (q *queued) unknown(t int64) {
	q.pessimist.unknown(t)
	q.blind = t + q.wait
}

func (q *queued) trim(oldest int64) {
	q.flying = slices.DeleteFunc(q.flying, func(f flying) bool { return f.decided && f.to < oldest })
	if q.refusals > 0 {
		q.pessimist.trim(oldest)
	}
}

func (q *queued) heaviest() heavy { return heavy{} }
