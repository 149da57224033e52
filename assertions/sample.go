package assertions

import (
	"cmp"
	"slices"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// sampleSize is how many requests are kept to find the resolution of a run. It
// bounds memory and work; the first seconds under pressure tell what there is
// to tell.
const sampleSize = 1 << 16

// sample keeps the first requests of each key under a limit. The beginning of a
// key's history is a history, so whatever it refutes is refuted.
type sample struct {
	*scene
	limit scenarios.Limit
	keys  map[int32]*history
	held  int
	full  bool
	until int64 // ticks: requests that may have been decided from here on are not all in it
}

// history is what one key was sent, in the order of starts.
type history struct {
	hits    []brief
	refused int
}

// brief is a request, as far as a bucket is concerned.
type brief struct {
	from, to int64 // ticks
	cost     int64
	outcome  results.Outcome
}

func newSample(sc *scene, l scenarios.Limit) *sample {
	return &sample{scene: sc, limit: l, keys: map[int32]*history{}}
}

func (s *sample) hear(events []event) {
	for _, e := range events {
		switch {
		case e.kind == ends || s.full:
		case e.f == nil || s.held == sampleSize:
			s.full, s.until = true, e.at
		default:
			s.add(slot(s.limit, e.f.key), e.f)
		}
	}
}

func (s *sample) add(slot int32, f *flight) {
	h := s.keys[slot]
	if h == nil {
		h = &history{}
		s.keys[slot] = h
	}
	s.held++
	h.hits = append(h.hits, brief{f.from, f.to, f.hit.Cost, f.hit.Outcome})
	if f.hit.Outcome == results.Limited {
		h.refused++
	}
}

// moment is a start or end in a history.
type moment struct {
	at   int64
	rank int8 // the order at equal times, as in sweep
	i    int32
}

// moments is a history in the order of time, without what the sample does not
// hold in full.
func (s *sample) moments(h *history) []moment {
	m := make([]moment, 0, 2*len(h.hits))
	for i, b := range h.hits {
		begin, end := int8(0), int8(3)
		if b.outcome == results.Limited {
			begin, end = 1, 2
		}
		if s.full && b.to >= s.until {
			if b.outcome == results.Limited {
				continue
			}
			end = 4 // its end is past the sample
		}
		m = append(m, moment{b.from, begin, int32(i)})
		if end != 4 {
			m = append(m, moment{b.to, end, int32(i)})
		}
	}
	slices.SortFunc(m, func(a, b moment) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Compare(a.rank, b.rank)
	})
	return m
}

// load is the heaviest window of a history at a rate, in 1/den token.
func (h *history) load(p tempo, m []moment) (int64, bool) {
	s := staircase{tempo: p}
	for _, x := range m {
		b := &h.hits[x.i]
		switch {
		case x.rank < 2:
			s.start(x.at)
		case b.outcome == results.Admitted:
			s.end(b.from, x.at, b.cost)
		default:
			s.end(b.from, x.at, 0)
		}
	}
	return s.load, s.any
}

// margin is by how much, in 1/den token, a bucket of burst tokens could be
// larger at most and still explain every refusal.
func (h *history) margin(x pessimist, m []moment) (int64, bool) {
	for _, e := range m {
		b := &h.hits[e.i]
		switch e.rank {
		case 0:
			x.spend(e.at, b.cost)
		case 1:
			x.refuse(e.at)
		case 2:
			x.refused(b.from, e.at, b.cost)
		default:
			x.spent(e.at, b.cost)
		}
	}
	return x.margin, x.any
}
