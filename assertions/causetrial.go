package assertions

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Limits of the search for a cause. They bound its time: a usual record of 600
// requests takes some hundredths of a second, the longest under a second.
const (
	causeHits    = 2_000     // requests of the thinned sample that explanations are tried on
	causeWork    = 1_200_000 // events that are judged for one contract; what it leaves is the next one's
	promisedWork = 5_000_000 // more of them for the promised contract with other numbers
	phaseWork    = 20        // times the sample that a search over phases is taken to cost
	periodStep   = 0.0002    // by which one period that is tried differs from the next
)

// diagnosis holds other limits against the record of a broken one.
type diagnosis struct {
	whole   *sample // what the judge kept
	sample  *sample // the part of it that explanations are tried on
	moments []moment
	limits  []scenarios.Limit
	i       int   // the broken one
	subtle  bool  // neither bound was broken, but both together
	work    int64 // events that may still be judged
	clues   clues
	keyed   map[int32][]*sampled // the sample by key, as refusals told of it
	every   []moment             // of whole; nil: not needed yet
	trials  []attempt            // that were fired after the breach
	after   int                  // index in whole of the first request that was
}

func newDiagnosis(s *sample, limits []scenarios.Limit, i int) *diagnosis {
	d := &diagnosis{whole: s, sample: s.thinned(causeHits), limits: limits, i: i, work: causeWork}
	d.moments = d.sample.moments()
	d.clues = d.sample.clues()
	d.keyed = d.sample.asTold()
	return d
}

func (d *diagnosis) limit() scenarios.Limit { return d.limits[d.i] }

// with is all limits with another one in the place of the broken one.
func (d *diagnosis) with(l scenarios.Limit) []scenarios.Limit {
	limits := slices.Clone(d.limits)
	limits[d.i] = l
	return limits
}

// afford takes work from what may be done; false: there is not enough left.
func (d *diagnosis) afford(times int) bool {
	d.work -= int64(times * len(d.moments))
	return d.work >= 0
}

// wronged reports whether something was refused that a limit allows, and over
// whether more was admitted than it does, as far as neither depends on a phase.
// Where nothing more may be done, everything speaks against the limit.
func (d *diagnosis) wronged(l scenarios.Limit) bool {
	wrong := false
	c := newCourt(d.sample.scene, d.with(l))
	ok := d.play(c, func(r room) bool {
		wrong = r.wrong
		return !wrong
	})
	return wrong || !ok
}

func (d *diagnosis) over(l scenarios.Limit) bool {
	c := newCourt(d.sample.scene, d.with(l))
	if !d.play(c, func(room) bool { return true }) {
		return true
	}
	for i := range c.limits {
		if c.tooMuch(i) {
			return true
		}
	}
	return false
}

// play shows the sample to a court until refused says that it is enough. It
// gives false where nothing more may be done.
func (d *diagnosis) play(c *court, refused func(room) bool) bool {
	if d.work < 0 {
		return false
	}
	for n, m := range d.moments {
		h := &d.sample.hits[m.i]
		switch m.rank {
		case 0, 1:
			c.start(h.key, &h.brief)
		case 2:
			if r, _ := c.refused(h.key, &h.brief); !refused(r) {
				d.work -= int64(n)
				return true
			}
		default:
			c.spent(h.key, &h.brief)
		}
	}
	d.work -= int64(len(d.moments))
	return true
}

// account is how a limit explains the sample.
type account struct {
	theory string
	grid   bool
	lo, hi int64                                        // ticks: where an edge of the grid lies
	at     func(lo, hi int64) func(int64, bool) []model // the models for it; nil: they do not depend on it
}

// fits reports whether the sample does not refute a limit, and by which account.
func (d *diagnosis) fits(l scenarios.Limit) (a account, ok bool) {
	if !d.afford(1) {
		return a, false
	}
	limits := d.with(l)
	c := newCourt(d.sample.scene, limits)
	if d.sample.play(c, d.moments, d.i) {
		return a, false
	}
	for i := range limits {
		if i != d.i && c.refuted(i) {
			return a, false
		}
	}
	for _, t := range c.all[d.i] {
		a = account{theory: t.name}
		switch {
		case c.fails(t):
		case t.phased != nil:
			for _, p := range t.phased {
				if !d.afford(phaseWork) {
					return a, false
				}
				if a.lo, a.hi, ok = d.sample.explained(d.moments, limits, d.i, p); ok {
					a.grid, a.at = true, p.at
					return a, true
				}
			}
		case t.grid != nil && t.grid.apart && t.grid.empty(nil):
			return a, true // each key has windows of its own
		case t.grid != nil:
			widest, _ := t.grid.bad.gap()
			a.grid, a.lo, a.hi = true, mod(widest.lo, t.grid.window), mod(widest.hi, t.grid.window)
			return a, true
		default:
			return a, true
		}
	}
	return a, false
}

// middle is a phase of the account's grid.
func (a account) middle() int64 { return a.lo + max(a.hi-a.lo, 0)/2 }

// periodAt is the period at an index of those that are tried around a guess.
func periodAt(guess time.Duration, i int) time.Duration {
	return max(time.Duration(float64(guess)*math.Exp(float64(i-periods/2)*periodStep)), 1)
}

// periods is how many there are around a guess: up to 16 times as long or as
// short, ln(16) in steps of 0.0002 to both sides.
const periods = 2*13863 + 1

// between is the stretch of periods that neither side speaks against. A longer
// period is a slower limit: from some length on too much was admitted for it,
// and up to some length something was refused wrongly.
func (d *diagnosis) between(l scenarios.Limit) (lo, hi time.Duration, ok bool) {
	guess := l.Rate.Per
	at := func(i int) scenarios.Limit {
		l.Rate.Per = periodAt(guess, i)
		return l
	}
	first := sort.Search(periods, func(i int) bool { return !d.wronged(at(i)) })
	switch {
	case first == periods:
		return 0, 0, false
	case !d.over(at(first)):
		last := first + sort.Search(periods-first, func(i int) bool { return d.over(at(first + i)) }) - 1
		return periodAt(guess, first), periodAt(guess, last), true
	case first == 0:
		return 0, 0, false
	}
	return d.pinch(l, periodAt(guess, first-1), periodAt(guess, first))
}

// pinch looks for periods that neither side speaks against between one that is
// too short and one that is too long, where a record is sharper than the steps.
func (d *diagnosis) pinch(l scenarios.Limit, short, long time.Duration) (lo, hi time.Duration, ok bool) {
	with := func(per time.Duration) scenarios.Limit {
		l.Rate.Per = per
		return l
	}
	for long-short > 1 {
		middle := short + (long-short)/2
		switch wrong, over := d.wronged(with(middle)), d.over(with(middle)); {
		case wrong && over:
			return 0, 0, false
		case wrong:
			short = middle
		case over:
			long = middle
		default:
			lo, hi = middle, middle
			for range 6 { // the ends, to a part of what is left
				if m := short + (lo-short)/2; d.wronged(with(m)) {
					short = m
				} else {
					lo = m
				}
				if m := hi + (long-hi)/2; d.over(with(m)) {
					long = m
				} else {
					hi = m
				}
			}
			return lo, hi, true
		}
	}
	return 0, 0, false
}
