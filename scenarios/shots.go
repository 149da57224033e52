package scenarios

import (
	"iter"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"
)

// Shots are the requests of a plan in the order of their moments. They are made one by
// one as they are asked for, so that a plan of ten million takes no more memory than one
// of a thousand on as many keys. The zero value has none.
type Shots struct {
	strands []strand // in the order in which they were planned
	before  int64    // requests whose numbers come before the first one's
}

// ShotsOf are shots that somebody has made. Of two at the same moment the first in the
// list is the first, and all are numbered from 1.
func ShotsOf(list []Shot) (s Shots) {
	for _, shot := range list {
		g := group{at: shot.At, n: 1, volley: shot.Volley, late: shot.Late, cost: shot.Cost}
		s.strands = append(s.strands, strand{like: shot, groups: []group{g}, n: 1})
	}
	return s
}

// Len is how many there are.
func (s Shots) Len() (n int) {
	for i := range s.strands {
		n += s.strands[i].n
	}
	return n
}

// First is the first one; ok is false where there is none.
func (s Shots) First() (first Shot, ok bool) { return s.Read().Next() }

// Last is the moment of the last one; 0 where there is none.
func (s Shots) Last() (at int64) {
	for i := range s.strands {
		at = max(at, s.strands[i].last())
	}
	return at
}

// Count is how many there are of each phase, by its index.
func (s Shots) Count(phases int) []int64 {
	n := make([]int64, phases)
	for i := range s.strands {
		n[s.strands[i].like.Phase] += int64(s.strands[i].n)
	}
	return n
}

// Returns is how many of them can come back at most, each as often as it does.
func (s Shots) Returns() (n int) {
	for i := range s.strands {
		n += s.strands[i].n * int(s.strands[i].like.Tries)
	}
	return n
}

// Of are those of the phases that are asked for, numbered anew.
func (s Shots) Of(asked func(phase int32) bool) (some Shots) {
	for _, t := range s.strands {
		if asked(t.like.Phase) {
			some.strands = append(some.strands, t)
		}
	}
	return some
}

// Volleys is how many volleys are among them.
func (s Shots) Volleys() (n int) {
	for i := range s.strands {
		for _, g := range s.strands[i].groups {
			if g.volley != 0 {
				n++
			}
		}
	}
	return n
}

// Behind are the same shots, numbered behind so many others.
func (s Shots) Behind(n int64) Shots {
	s.before = n
	return s
}

// All goes through them in order.
func (s Shots) All() iter.Seq[Shot] {
	return func(yield func(Shot) bool) {
		r := s.Read()
		for shot, ok := r.Next(); ok; shot, ok = r.Next() {
			if !yield(shot) {
				return
			}
		}
	}
}

// strand is shots on one key of a phase, whose moments do not fall: those of a pace, or
// groups.
type strand struct {
	like     Shot  // the first, but for what its group and chance say
	num, den int64 // of a pace: num in den nanoseconds; 0: they are groups
	groups   []group
	n        int       // shots
	chance   *rand.PCG // from which their shares are drawn; nil: none is
}

// group is shots that leave together.
type group struct {
	at     int64
	n      int32
	volley int32 // 0: it is one that leaves by itself
	late   time.Duration
	cost   int64
}

// place is where in a strand a reader is.
type place struct {
	shot   int   // so many were given
	group  int32 // that the next one is of
	within int32 // so many of it were given
}

// moment is when the next shot is due. The n-th of a pace is due at n periods exactly,
// rounded down to a nanosecond, so that nothing drifts.
func (t *strand) moment(p place) int64 {
	if t.num == 0 {
		return t.groups[p.group].at
	}
	hi, lo := bits.Mul64(uint64(p.shot), uint64(t.den))
	quo, _ := bits.Div64(hi%uint64(t.num), lo, uint64(t.num))
	return t.like.At + int64(quo)
}

// last is the moment of the last shot.
func (t *strand) last() int64 {
	return t.moment(place{shot: t.n - 1, group: int32(len(t.groups) - 1)})
}

// next gives the shot at a place and goes on to the one behind it.
func (t *strand) next(p *place, chance *rand.Rand) Shot {
	s := t.like
	s.At = t.moment(*p)
	if chance != nil {
		s.Share = s.Retry.share(chance.Int64N(whole))
	}
	if s.Turn > 0 {
		s.Turn += int32(p.shot)
	}
	p.shot++
	if t.num == 0 {
		g := &t.groups[p.group]
		s.Volley, s.Late, s.Cost = g.volley, g.late, g.cost
		if p.within++; p.within == g.n {
			p.group, p.within = p.group+1, 0
		}
	}
	return s
}

// Reader goes through shots in the order of their moments, and of those that are due at
// the same one in the order in which they were planned.
type Reader struct {
	given  int64    // numbers of shots
	strand []strand // all of them
	heads  []head   // a heap of those that are not read to their end
}

// head is how far a strand was read.
type head struct {
	at     int64 // of its next shot
	strand int32
	place
	chance *rand.Rand // nil: nothing is drawn
}

// Read begins at the first.
func (s Shots) Read() *Reader {
	r := &Reader{given: s.before, strand: s.strands, heads: make([]head, 0, len(s.strands))}
	for i := range s.strands {
		t := &s.strands[i]
		h := head{at: t.moment(place{}), strand: int32(i)}
		if t.chance != nil {
			chance := *t.chance
			h.chance = rand.New(&chance)
		}
		r.heads = append(r.heads, h)
	}
	slices.SortFunc(r.heads, func(a, b head) int { // what is sorted is a heap
		if a.before(b) {
			return -1
		}
		return 1
	})
	return r
}

// Next gives the next shot; ok is false behind the last one.
func (r *Reader) Next() (s Shot, ok bool) {
	if len(r.heads) == 0 {
		return Shot{}, false
	}
	h := &r.heads[0]
	t := &r.strand[h.strand]
	s = t.next(&h.place, h.chance)
	r.given++
	s.Seq = r.given
	if h.shot < t.n {
		h.at = t.moment(h.place)
	} else {
		last := len(r.heads) - 1
		r.heads[0], r.heads = r.heads[last], r.heads[:last]
	}
	r.sink()
	return s, true
}

func (h head) before(g head) bool { return h.at < g.at || h.at == g.at && h.strand < g.strand }

// sink puts the first of the heap where it belongs.
func (r *Reader) sink() {
	for i := 0; ; {
		least := 2*i + 1
		if least >= len(r.heads) {
			return
		}
		if other := least + 1; other < len(r.heads) && r.heads[other].before(r.heads[least]) {
			least = other
		}
		if r.heads[i].before(r.heads[least]) {
			return
		}
		r.heads[i], r.heads[least] = r.heads[least], r.heads[i]
		i = least
	}
}
