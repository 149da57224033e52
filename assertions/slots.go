package assertions

import (
	"cmp"
	"slices"
)

// cornered is a refusal that too few can have been waiting for.
type cornered struct {
	refusal *sampled
	waiting int64      // that may have been
	late    []*sampled // others under way, which were released too late to have waited then
}

// mostCornered is how many admissions of a key are looked at: the work grows with
// their square.
const mostCornered = 2048

// cornered looks for a refusal of a key that a queue in the order of arrival did
// not make.
//
// A queue gives each that it lets in a slot: one of the moments, 1/r apart, at
// which it releases. It lies between the request's start and its end, and at most
// b/r behind its acceptance. Where all slots of [a, t] are taken by others that
// left after a and were answered by t, a request that left after a as well and was
// answered later has its slot behind t. So its acceptance lies behind t - b/r, and
// at a refusal that had ended by then it was not waiting yet. But a refusal finds b
// requests waiting. Nothing in this says when a slot's answer has to be there: a
// server and a network may be as slow as they like.
func (h *holding) cornered(l *line) (c cornered, ok bool) {
	if len(l.admitted) > mostCornered || len(l.refused) == 0 {
		return c, false
	}
	after := h.slots(l.admitted)
	most := h.most()
	unseen := h.sample.ticks(h.limit.Fill()) + 1
	for _, x := range l.refused {
		switch {
		case h.sample.full && x.to >= h.sample.until:
			return c, false // others may have been under way
		case !h.sample.unused(h.limit) && x.from <= unseen:
			continue // the queue may be full of what was not seen
		}
		c = cornered{refusal: x}
		for i, a := range l.admitted {
			switch {
			case a.from > x.to:
			case a.to < x.from:
			case after[i] > x.to+most:
				c.late = append(c.late, a)
			default:
				c.waiting++
			}
		}
		for _, a := range l.doubtful { // whatever was answered, it may wait on
			if a.from <= x.to && a.to+unseen >= x.from {
				c.waiting++
			}
		}
		if c.waiting < h.limit.Burst && len(c.late) > 0 {
			return c, true
		}
	}
	return c, false
}

// slots gives for each admission, in the order in which they left, a moment
// behind which its slot lies.
func (h *holding) slots(admitted []*sampled) []int64 {
	up := newTempo(h.limit.Rate, h.limit.Slack.Over, h.sample.length(), 1, roundUp)
	after, taken := make([]int64, len(admitted)), make([]int64, len(admitted))
	ends := make([]int, len(admitted))
	for i := range admitted {
		ends[i], after[i] = i, admitted[i].from-1
	}
	slices.SortFunc(ends, func(a, b int) int { return cmp.Compare(admitted[a].to, admitted[b].to) })
	for _, e := range ends {
		t := admitted[e].to
		for i := range e + 1 { // it counts in each window that began when it left or before
			taken[i]++
		}
		full := false
		for i, a := range admitted {
			// taken in [a, t] and one more are more than 1 + r(t - a).
			full = full || up.weigh(taken[i]) > up.gain(t-a.from)
			if full && a.to > t {
				after[i] = t
			}
		}
	}
	return after
}
