package assertions

import (
	"cmp"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Where a key was refused and then admitted, something came back between the two:
// the edge of a window, or a lump. Folded over the right period, all these
// stretches have a moment in common. That is far less work than to try a period
// on the record, so that it can be asked of thousands.

// edge is a stretch in which something came back to a key, in ticks: from the
// start of its last refusal to the end of its next admission.
type edge struct{ lo, hi int64 }

// maxEdges is how many of the narrowest are folded: the others tell little.
const maxEdges = 64

// edges are those of the sample, the narrowest first. Since each key's first
// request, they end where it rested for long: lumps are counted anew then.
func (d *diagnosis) edges(own bool, rest int64) (list []edge) {
	for _, hits := range d.sample.byKey() {
		born, last := hits[0].from, hits[0].from
		var refused []*sampled // since the last admission
		for _, h := range hits {
			if own && h.from-last > rest {
				break
			}
			last = h.from
			if h.outcome == results.Limited {
				refused = append(refused, h)
				continue
			}
			if e, ok := passed(refused, h); ok && h.outcome == results.Admitted {
				if own {
					e.lo, e.hi = e.lo-born, e.hi-born
				}
				list = append(list, e)
			}
			refused = refused[:0]
		}
	}
	slices.SortFunc(list, func(a, b edge) int { return cmp.Or(cmp.Compare(a.hi-a.lo, b.hi-b.lo), cmp.Compare(a.lo, b.lo)) })
	return head(list, maxEdges)
}

// passed is from the last refusal that was decided before an admission to that.
func passed(refused []*sampled, h *sampled) (e edge, ok bool) {
	for _, r := range refused {
		if r.to < h.from && r.cost <= h.cost && (!ok || r.from > e.lo) {
			e, ok = edge{r.from, h.to}, true
		}
	}
	return e, ok
}

// folded are periods from lo to hi over which all edges can lie on one grid, the
// middles and the roundest of the stretches that they form, the widest first.
func (d *diagnosis) folded(f family, lo, hi time.Duration) (periods []time.Duration) {
	own := f.align == scenarios.AlignFirstHit
	edges := d.edges(own, d.sample.ticks(lo))
	if len(edges) < 3 {
		return nil
	}
	blur := d.sample.ticks(d.limit().Slack.Quantum)
	var stretches []closed // of periods, in nanoseconds
	step := d.foldStep(edges, lo, hi)
	for p := lo; p <= hi; p += step {
		if !common(edges, d.sample.ticks(p), blur, own) {
			continue
		}
		if n := len(stretches); n > 0 && int64(p)-stretches[n-1].hi <= int64(step) {
			stretches[n-1].hi = int64(p)
		} else {
			stretches = append(stretches, closed{int64(p), int64(p)})
		}
	}
	slices.SortStableFunc(stretches, func(a, b closed) int { return cmp.Compare(b.hi-b.lo, a.hi-a.lo) })
	for _, s := range head(stretches, 16) {
		from, to := time.Duration(s.lo)-step/2, time.Duration(s.hi)+step/2
		periods = append(periods, roundest(from, to), from+(to-from)/2)
	}
	return periods
}

// foldStep is from one period to the next: the narrowest edge must not jump over
// the others.
func (d *diagnosis) foldStep(edges []edge, lo, hi time.Duration) time.Duration {
	const most = 16384
	var last int64
	for _, e := range edges {
		last = max(last, abs(e.hi))
	}
	width := d.duration(edges[0].hi-edges[0].lo) + 2*d.limit().Slack.Quantum
	turns := last/max(d.sample.ticks(lo), 1) + 1
	return max(width/time.Duration(2*turns), (hi-lo)/most, 1)
}

// common reports whether the edges folded over a period have a moment in common,
// in which a grid's edge may lie. Of those since a key's first request it is that
// request. How far the two clocks drift apart is part of the period that is found.
func common(edges []edge, period, blur int64, own bool) bool {
	c := circle{length: period}
	for _, e := range edges {
		lo, hi := e.lo-blur, e.hi+blur
		if own {
			if floorDiv(hi, period) == floorDiv(lo-1, period) {
				return false
			}
			continue
		}
		if hi-lo >= period {
			continue
		}
		if c.add(hi, lo+period); c.full() {
			return false
		}
	}
	return true
}
