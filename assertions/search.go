package assertions

import "github.com/ratehammer/ratehammer/scenarios"

// phased is a theory whose models need to know where a grid lies that nobody
// told: a search over its phases either finds one that explains the record, or
// shows that none does.
type phased struct {
	name   string                                                // beside the theory's; empty: that says it
	period int64                                                 // 0: there is no phase to look for, and at is the same for all
	at     func(lo, hi int64) func(at int64, fresh bool) []model // the models when a grid line lies at lo to hi
}

const (
	searchBins = 16      // that a search begins with
	searchFine = 1 << 13 // parts of a period below which a stretch is not divided any more
	searchHits = 1 << 13 // requests that are searched through
)

// head is the sample without all but its first requests.
func (s *sample) head() *sample {
	if len(s.hits) <= searchHits {
		return s
	}
	if s.front == nil {
		s.front = &sample{scene: s.scene, hits: s.hits[:searchHits], full: true, until: s.hits[searchHits].from}
	}
	return s.front
}

// explained looks for a phase that explains the sample under a phased theory of
// the limit at index i.
func (s *sample) explained(m []moment, limits []scenarios.Limit, i int, p *phased) (lo, hi int64, ok bool) {
	return s.search(m, limits, i, p, nil)
}

// search looks for such a phase in a stretch if one is given. Each stretch of
// phases is judged as a whole, by what holds for all of it; one that is not ruled
// out is divided until it is as fine as matters.
func (s *sample) search(m []moment, limits []scenarios.Limit, i int, p *phased, only *closed) (lo, hi int64, ok bool) {
	if p.period == 0 {
		return 0, 0, !s.rules(m, limits, i, p.at(0, 0))
	}
	first, width := int64(0), p.period
	if only != nil {
		first, width = only.lo, min(only.hi-only.lo, p.period)
	}
	var stack [][2]int64
	for b := searchBins - 1; b >= 0; b-- {
		stack = append(stack, [2]int64{first + width*int64(b)/searchBins, first + width*int64(b+1)/searchBins})
	}
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if s.rules(m, limits, i, p.at(x[0], x[1])) {
			continue
		}
		if x[1]-x[0] <= max(p.period/searchFine, 1) {
			return x[0], x[1], true
		}
		middle := x[0] + (x[1]-x[0])/2
		stack = append(stack, [2]int64{middle, x[1]}, [2]int64{x[0], middle})
	}
	return 0, 0, false
}

// rules reports whether the sample rules these models out in the place of the
// limit at index i.
func (s *sample) rules(m []moment, limits []scenarios.Limit, i int, models func(int64, bool) []model) bool {
	c := newCourt(s.scene, limits)
	c.all[i] = []*theory{{name: "a phase", make: models}}
	return s.play(c, m, i)
}
