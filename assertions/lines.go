package assertions

import (
	"cmp"
	"math"
	"slices"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// line is what is known of the requests of one key to a queue, in the order in
// which they left.
type line struct {
	admitted, refused []*sampled
	doubtful          []*sampled // that may have been let in
	alone             []*sampled // admitted ones that found the queue empty, and were released at once
	busy              int64      // ticks: the latest end of those that may have been let in
	odd               bool       // some cost several tokens: not counted
}

// lines are those of a sample, by slot. space is the longest from one release to
// the next.
func (s *sample) lines(l scenarios.Limit, space int64) (all []*line) {
	fresh := s.unused(l)
	for i := range s.hits {
		x := &s.hits[i]
		n := int(slot(l, x.key))
		for n >= len(all) {
			all = append(all, &line{busy: math.MinInt64 / 2})
		}
		all[n].add(x, space, fresh)
	}
	for _, k := range all {
		if k.odd {
			*k = line{}
		}
		if fresh && len(k.admitted) > 0 {
			k.first()
		}
	}
	return all
}

// unused reports whether what a limit counts together was never used before: of
// what everybody shares nobody knows.
func (s *sample) unused(l scenarios.Limit) bool { return s.fresh && l.Key.Kind != scenarios.KeyNone }

func (k *line) add(x *sampled, space int64, fresh bool) {
	k.odd = k.odd || x.cost != 1 || x.torn
	if x.outcome == results.Limited {
		k.refused = append(k.refused, x)
		return
	}
	if n := len(k.alone); n > 0 && k.alone[n-1].to >= x.from {
		k.alone = k.alone[:n-1] // the later one may have been first
	}
	known := fresh || len(k.admitted)+len(k.doubtful) > 0
	if x.outcome == results.Admitted && known && x.from > k.busy+space {
		k.alone = append(k.alone, x)
	}
	k.busy = max(k.busy, x.to)
	if x.outcome == results.Admitted {
		k.admitted = append(k.admitted, x)
	} else {
		k.doubtful = append(k.doubtful, x)
	}
}

// first adds the admission of a fresh key that was answered first: one is released
// at once, and the next only when a token has come.
func (k *line) first() {
	x := slices.MinFunc(k.admitted, func(a, b *sampled) int { return cmp.Compare(a.to, b.to) })
	if len(k.doubtful) == 0 && !slices.Contains(k.alone, x) {
		k.alone = append(k.alone, x)
	}
}

// trips is how long answers took that nothing held back.
type trips struct {
	way     int64 // ticks: that of a refusal, or twice that of an admission, which a service may be slow with
	refused int
	alone   int // admissions
	others  int // that may have been held back
}

func unheld(lines []*line) (t trips) {
	for _, l := range lines {
		for _, x := range l.refused {
			t.way = max(t.way, x.to-x.from)
		}
		for _, x := range l.alone {
			t.way = max(t.way, 2*(x.to-x.from))
		}
		t.refused, t.alone = t.refused+len(l.refused), t.alone+len(l.alone)
		t.others += len(l.admitted) - len(l.alone)
	}
	return t
}

// few: there is nothing to compare with, or nothing to be compared.
func (t trips) few() bool { return t.refused == 0 || t.alone < 3 || t.others == 0 }

// striking is how many of those that may have been held back have to be later
// than all that were not, to be worth telling: where it is a matter of the way
// alone, each of all is the latest with the same odds, and so many of the former
// are with less than one in ten thousand.
func (t trips) striking() int64 {
	share := float64(t.others) / float64(t.others+t.refused+t.alone)
	return int64(math.Ceil(math.Log(1e-4) / math.Log(share)))
}

// overtaken counts the admissions that were answered by more than a way later
// than another one that left by more than a way after them.
func (l *line) overtaken(way int64) (n int64) {
	// The earliest end of those from some place on, which left no earlier.
	earliest := make([]int64, len(l.admitted)+1)
	earliest[len(l.admitted)] = math.MaxInt64
	for i := len(l.admitted) - 1; i >= 0; i-- {
		earliest[i] = min(earliest[i+1], l.admitted[i].to)
	}
	j := 0
	for _, x := range l.admitted {
		for j < len(l.admitted) && l.admitted[j].from <= x.from+way {
			j++
		}
		if earliest[j] < x.to-way {
			n++
		}
	}
	return n
}
