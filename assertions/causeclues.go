package assertions

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ratehammer/ratehammer/results"
)

// clues are what a record hints at, before anything is tried: numbers that are
// worth a trial, the likeliest first. Nothing is concluded from them.
type clues struct {
	first   []int64 // what was admitted at once when a key was first used
	most    int64   // and may have been at most on that key where it was least; 0: it was not refused
	repeats []int64 // what was admitted at once later, on a key that had been refused
	spaces  []int64 // ticks from the beginning of one such group to the next
	tokens  []int64 // ticks that a token took on a key under pressure
	fresh   int     // keys whose first requests were answered
	empty   int     // of these, keys that were refused at once
}

// group are admissions on one key with no refusal that certainly lay between.
type group struct {
	at    int64 // ticks: the end of its first request, by which it had begun
	count int64
	more  int64 // may have been admitted as well, up to then
	ended bool  // a refusal came behind it
	asked int64 // cost of the cheapest one
}

// clues reads the sample key by key.
func (s *sample) clues() (c clues) {
	firsts, repeats := map[int64]int{}, map[int64]int{}
	for _, hits := range s.byKey() {
		groups, refused := s.groups(hits)
		if len(groups) == 0 && !refused {
			continue
		}
		c.fresh++
		if refused {
			c.empty++
		}
		c.numbers(groups, firsts, repeats)
	}
	c.first, c.repeats = byCount(firsts), byCount(repeats)
	slices.Sort(c.spaces)
	slices.Sort(c.tokens)
	return c
}

// numbers takes the figures of one key's groups.
func (c *clues) numbers(groups []group, firsts, repeats map[int64]int) {
	var later int64
	for i, g := range groups {
		switch {
		case !g.ended:
		case i == 0:
			firsts[g.count]++
			if most := g.count + g.more + g.asked - 1; c.most == 0 || most < c.most {
				c.most = most
			}
		default:
			repeats[g.count]++
		}
		if i > 0 {
			c.spaces = append(c.spaces, g.at-groups[i-1].at)
		}
		if i > 0 && i < len(groups)-1 {
			later += g.count
		}
	}
	if n := len(groups); n > 2 && later > 0 {
		c.tokens = append(c.tokens, (groups[n-1].at-groups[1].at)/later)
	}
}

// byKey is the sample's requests by key, each in the order they were sent.
func (s *sample) byKey() map[int32][]*sampled {
	keys := map[int32][]*sampled{}
	for i := range s.hits {
		h := &s.hits[i]
		keys[h.key] = append(keys[h.key], h)
	}
	return keys
}

// groups are the admissions of one key, and whether it was refused before any.
func (s *sample) groups(hits []*sampled) (groups []group, refused bool) {
	open := false          // the last group goes on
	var refusal int64 = -1 // ticks: the earliest end of a refusal since the last group began; -1: none
	var unsure int64       // cost of requests that may have been admitted
	for _, h := range hits {
		switch h.outcome {
		case results.Limited:
			if len(groups) == 0 {
				refused = true
			} else {
				g := &groups[len(groups)-1]
				if !g.ended || h.cost < g.asked {
					g.asked = h.cost
				}
				g.ended = true
			}
			if refusal < 0 || h.to < refusal {
				refusal = h.to
			}
		case results.Admitted:
			if !open || refusal >= 0 && refusal < h.from {
				groups, open, refusal = append(groups, group{at: h.to}), true, -1
			}
			g := &groups[len(groups)-1]
			g.at = min(g.at, h.to)
			g.count += h.cost
		default:
			unsure += h.cost
		}
		if n := len(groups); n > 0 {
			groups[n-1].more = unsure
		}
	}
	return groups, refused && !s.overlaps(hits)
}

// overlaps reports whether the first refusal of a key left before its first
// admission was answered: then it was not refused at once.
func (s *sample) overlaps(hits []*sampled) bool {
	admitted := slices.IndexFunc(hits, func(h *sampled) bool { return h.outcome == results.Admitted })
	refused := slices.IndexFunc(hits, func(h *sampled) bool { return h.outcome == results.Limited })
	return admitted >= 0 && hits[admitted].from <= hits[refused].to
}

// byCount are the keys of a count, the most frequent first, and of equals the
// smallest.
func byCount(n map[int64]int) (values []int64) {
	for v := range n {
		values = append(values, v)
	}
	slices.SortFunc(values, func(a, b int64) int { return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b)) })
	return values
}

// thinned is the sample's first part without refusals between others on the
// same key: those next to an admission are what tells. Leaving out a refusal
// never makes a limiter wrong that was right.
func (s *sample) thinned(most int) *sample {
	keep := make([]bool, len(s.hits))
	last := map[int32]int{} // by key: the request before
	run := map[int32]int{}  // by key: refusals since one was kept
	for i := range s.hits {
		h := &s.hits[i]
		before, any := last[h.key]
		spends := h.spends()
		keep[i] = spends || !any || s.hits[before].spends() || run[h.key] >= thinning
		if spends && any {
			keep[before] = true
		}
		run[h.key]++
		if keep[i] {
			run[h.key] = 0
		}
		last[h.key] = i
	}
	t := &sample{scene: s.scene, full: s.full, until: s.until}
	for i := range s.hits {
		if len(t.hits) == most {
			t.full, t.until = true, s.hits[i].from
			break
		}
		if keep[i] {
			t.hits = append(t.hits, s.hits[i])
		}
	}
	return t
}

// busiest are the requests on the keys that most were sent on, so many at most but
// for the first key.
func (s *sample) busiest(most int) *sample {
	count := map[int32]int{}
	for i := range s.hits {
		count[s.hits[i].key]++
	}
	keys := slices.SortedFunc(maps.Keys(count), func(a, b int32) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	n := 0
	chosen := map[int32]bool{}
	for _, k := range keys {
		if n > 0 && n+count[k] > most {
			break
		}
		chosen[k] = true
		n += count[k]
	}
	t := &sample{scene: s.scene, full: s.full, until: s.until}
	for i := range s.hits {
		if chosen[s.hits[i].key] {
			t.hits = append(t.hits, s.hits[i])
		}
	}
	return t
}

// thinning is every how many-th of the refusals in a row is kept.
const thinning = 12
