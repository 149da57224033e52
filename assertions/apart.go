package assertions

import (
	"cmp"
	"slices"

	"github.com/ratehammer/ratehammer/scenarios"
)

// explains reports whether a phased account explains what a court has judged, by
// the sample: with periods that begin where the theory has them for all keys, or
// with other ones for each key where it leaves that open.
func (s *sample) explains(c *court, i int, t *theory, p *phased) (lo, hi int64, apart, ok bool) {
	head := s.head()
	if lo, hi, ok = head.search(head.moments(), c.limits, i, p, head.begins(c, t)); ok || !t.apart || p.period == 0 {
		return lo, hi, false, ok
	}
	return 0, 0, true, head.explainedApart(c.limits, i, p)
}

// explainedApart looks for a phase for each key. With several limits nothing is
// ruled out: how much of another one was left is not known from one key alone.
func (s *sample) explainedApart(limits []scenarios.Limit, i int, p *phased) bool {
	if len(limits) > 1 || limits[i].Key.Kind == scenarios.KeyNone {
		return len(limits) > 1
	}
	for _, one := range s.each() {
		if _, _, ok := one.explained(one.moments(), limits, i, p); !ok {
			return false
		}
	}
	return true
}

// each is the sample key by key, those with most requests first: they tell most.
func (s *sample) each() []*sample {
	if s.keys != nil {
		return s.keys
	}
	by := map[int32]*sample{}
	for _, h := range s.hits {
		one := by[h.key]
		if one == nil {
			one = &sample{scene: s.scene, full: s.full, until: s.until}
			by[h.key], s.keys = one, append(s.keys, one)
		}
		h.key = 0 // it is alone, and what is kept by key stays small
		one.hits = append(one.hits, h)
	}
	slices.SortStableFunc(s.keys, func(a, b *sample) int { return cmp.Compare(len(b.hits), len(a.hits)) })
	return s.keys
}
