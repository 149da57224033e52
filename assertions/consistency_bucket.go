package assertions

import "math"

// driftingBucket is every token bucket that keeps a promise within its slack,
// all at once. It tells what a decision does to all that they can have become.
//
// A bucket of b tokens whose speed of refill drifts, from moment to moment and
// in any way, between a slow and a fast one is followed by
//
//	T = t + (b - level) / fast
//
// the time at which it would be full at the fast speed (GCRA's theoretical
// arrival time). Times, and costs as the time in which they refill, are whole
// units. While a bucket is not full, T stands still where it is fast, and grows
// by at most 1 - slow/fast of the time that passes; full is T <= t. So where
// T can have been reached by a last decision at t, it can still be there
// at any later t (it was fast), and T + x can by t + x/(1 - slow/fast). All that
// can have been reached is told by one curve: for each T the earliest t. That is
// no approximation: a bucket is on or above the curve if and only if some
// drifting one can be there.
//
// Where it has to be rounded, it is to the side of more buckets: 1/(1 -
// slow/fast) is rounded down (ramp), and so are curves. Two more things are
// granted, to refusals only (late):
//   - A limiter that reads its clock before its turn comes may decide in
//     another order than its readings are, each older by up to the quantum. With
//     the greatest reading so far for each, the readings are in order. An
//     admission finds no less with a later reading, and no other T: a decision
//     with a greater one before it was an admission or a refusal, so the bucket
//     is not full at the older one. A refusal finds less by up to a quantum.
//   - One that rounds down by up to a share of a token at each admission loses no
//     more than what is admitted, and that is bounded by b + fast x time. A queue
//     to which no more than that comes, and from which fast x time goes, is never
//     longer than b: so a bucket that is slower by that share, and has lost as
//     much as b of those shares, has always lost as much.
type driftingBucket struct {
	burst  int64 // units
	ramp   int64 // time in which T may drift by 1, rounded down; 0: it does not drift
	late   int64 // units by which T may be less than a refusal needs
	strict int64 // 1: units are so fine that less than one means no more than a refusal's 'less than'; 0: 'less than' is taken as 'at most'
	room   curve // what admit is at
}

// fullAt is a bucket that is full at all times.
func fullAt(t int64) curve { return curve{{lo: t, hi: t, at: t}} }

// unknownAt is a bucket of any level at t.
func (k *driftingBucket) unknownAt(t int64) curve { return curve{{lo: t, hi: t + k.burst, at: t}} }

// settle appends to out what a curve comes to when the next decision is made by
// end: what is later is cut off, what is full is one point, and T drifts.
func (k *driftingBucket) settle(out, f curve, end int64) curve {
	full, first := int64(math.MaxInt64), true
	for _, p := range f {
		if p.at > end {
			continue
		}
		p = p.upTo(end)
		switch {
		case p.at > p.hi || p.slope > 0 && p.at > p.lo: // T <= t: full from t on
			full = min(full, p.at)
			continue
		case p.slope == 0:
			if p.lo < p.at {
				p.lo = p.at
			}
		case p.slope > 1:
			p.hi = min(p.hi, p.lo+ceilDiv(p.lo-p.at, p.slope-1))
		}
		if first && full < p.lo {
			out = k.drift(out, piece{full, full, full, 0}, end)
		}
		out, first = k.drift(out, p, end), false
	}
	if first && full < math.MaxInt64 {
		out = append(out, piece{full, full, full, 0})
	}
	return out
}

// drift appends p, and from its end on the ramp of a T that drifts as fast as it
// can. Where the last piece is such a ramp it goes on below p while it is less.
func (k *driftingBucket) drift(out curve, p piece, end int64) curve {
	if n := len(out) - 1; n >= 0 && out[n].hi > p.lo {
		ramp := out[n]
		out = out[:n].add(piece{ramp.lo, p.lo, ramp.at, ramp.slope}).both(ramp.from(p.lo), p)
	} else {
		out = out.add(p)
	}
	last := out[len(out)-1]
	v := last.value(last.hi)
	if k.ramp == 0 || last.hi > p.hi || v >= min(end, last.hi) {
		return out
	}
	long := ceilDiv(end-v, k.ramp)
	if k.ramp > 1 { // a full bucket is one point already
		long = min(long, ceilDiv(last.hi-v, k.ramp-1))
	}
	return out.add(piece{last.hi, last.hi + long, v, k.ramp})
}

// admit appends to out what a settled curve becomes by an admission for cost,
// decided from from to to; nothing where it cannot be. Either T is no earlier
// than the decision, and T - (b - cost) no later, or the bucket is full.
func (k *driftingBucket) admit(out, f curve, from, to, cost int64) curve {
	spare := k.burst - cost
	if spare < 0 || from > to || len(f) == 0 {
		return out
	}
	k.room = k.room[:0]
	for _, p := range f {
		if p.lo < from && p.hi >= from {
			p = p.from(from)
		}
		if p.hi = min(p.hi, to+spare); p.lo >= from && p.lo <= p.hi {
			low, high := p.above(from)
			k.room = k.room.addGreater(low, spare, to).addGreater(high, spare, to)
		}
	}
	for i := range k.room {
		k.room[i].lo += cost
		k.room[i].hi += cost
	}
	full := max(from, f[0].lo)
	if full > to {
		return append(out, k.room...)
	}
	return out.lesser(k.room, curve{{full + cost, to + cost, full, 1}})
}

// refuse appends to out what a settled curve becomes by a refusal, decided from
// from to to: T - (b - cost) was later than the decision.
func (k *driftingBucket) refuse(out, f curve, from, to, cost int64) curve {
	spare := k.burst - cost + k.strict - k.late
	for _, p := range f {
		if p.lo < from+spare {
			if p.hi < from+spare {
				continue
			}
			p = p.from(from + spare)
		}
		if p, ok := p.belowLine(spare); ok {
			out = out.addFrom(p, from, to)
		}
	}
	return out
}
