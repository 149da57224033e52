package assertions

import (
	"slices"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// witnessTries is how many parts of a record are tried to find a small one.
const witnessTries = 80

// witness is a small part of the sample that refutes the limit at index i by
// itself: one key's requests where that is enough, up to some moment, and of the
// refusals only those that it takes. Each step leaves out what a right limiter
// would not miss: keys do not know of each other, the beginning of a history is a
// history, and a refusal takes nothing. It is nil where the sample does not
// refute the limit.
func (s *sample) witness(limits []scenarios.Limit, i int) *sample {
	w := &witness{limits: limits, i: i, tries: witnessTries}
	part := s.head()
	if !part.try(part.moments(), limits, i) {
		return nil
	}
	if limits[i].Key.Kind != scenarios.KeyNone {
		part = w.fewerKeys(part)
	}
	return w.fewerRefusals(w.shorter(part))
}

// witness is the search for one.
type witness struct {
	limits []scenarios.Limit
	i      int
	tries  int // that are left
}

// refutes reports whether a part still refutes the limit.
func (w *witness) refutes(part *sample) bool {
	w.tries--
	return w.tries >= 0 && part.try(part.moments(), w.limits, w.i)
}

// fewerKeys is one key alone if that is enough, those with fewest requests first:
// they are the easiest to follow. Else it is the part without the keys that it does
// not take.
func (w *witness) fewerKeys(part *sample) *sample {
	count := map[int32]int{}
	var keys []int32
	for i := range part.hits {
		if k := part.hits[i].key; count[k] == 0 {
			keys = append(keys, k)
		}
		count[part.hits[i].key]++
	}
	slices.SortStableFunc(keys, func(a, b int32) int { return count[a] - count[b] })
	for _, k := range keys {
		if one := part.only(func(h *sampled) bool { return h.key == k }); w.refutes(one) {
			return one
		}
	}
	w.tries = max(w.tries, witnessTries/2)
	slices.Reverse(keys) // those with many requests go first
	for size := (len(keys) + 1) / 2; size > 0; size /= 2 {
		for from := 0; from < len(keys) && w.tries > witnessTries/4; {
			group := keys[from:min(from+size, len(keys))]
			if without := part.only(func(h *sampled) bool { return !slices.Contains(group, h.key) }); w.refutes(without) {
				part, keys = without, slices.Delete(keys, from, from+len(group))
			} else {
				from += size
			}
		}
	}
	return part
}

// shorter is the least beginning of a part that is enough.
func (w *witness) shorter(part *sample) *sample {
	best := part
	lo, hi := 0, len(part.hits) // hi are enough
	for hi-lo > 1 {
		n := (lo + hi) / 2
		first := &sample{scene: part.scene, hits: part.hits[:n], full: true, until: part.hits[n].from}
		if w.refutes(first) {
			best, hi = first, n
		} else {
			lo = n
		}
	}
	return best
}

// fewerRefusals leaves out refusals, ever smaller groups of them, as long as
// what remains is enough.
func (w *witness) fewerRefusals(part *sample) *sample {
	var refusals []int64
	for i := range part.hits {
		if !part.hits[i].spends() {
			refusals = append(refusals, part.hits[i].seq)
		}
	}
	for size := (len(refusals) + 1) / 2; size > 0 && w.tries > 0; size /= 2 {
		for from := 0; from < len(refusals) && w.tries > 0; {
			group := refusals[from:min(from+size, len(refusals))]
			without := part.only(func(h *sampled) bool { return h.outcome != results.Limited || !slices.Contains(group, h.seq) })
			if w.refutes(without) {
				part = without
				refusals = slices.Delete(refusals, from, from+len(group))
			} else {
				from += size
			}
		}
	}
	return part
}

// only is the sample without the requests that do not match.
func (s *sample) only(match func(*sampled) bool) *sample {
	part := &sample{scene: s.scene, full: s.full, until: s.until}
	for i := range s.hits {
		if match(&s.hits[i]) {
			part.hits = append(part.hits, s.hits[i])
		}
	}
	return part
}
