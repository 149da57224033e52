package assertions

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// resolution finds which other promises the record refutes: a smaller or slower
// limiter would have had to refuse what was admitted, a larger or faster one to
// admit what was refused. What is not refuted lies between, and the distance to
// the promise is the smallest error that the run would have caught. It is found
// by judging the sample again under other promises; no formula and no guess.
type resolution struct {
	sample  *sample
	moments []moment
	limits  []scenarios.Limit
	i       int // the one whose resolution is asked for
	asked   sides
}

// sides are the questions that a resolution rests on, as far as they are asked: what
// nobody asks for catches nothing.
type sides struct {
	upper  bool // whether too much is admitted
	lower  bool // whether too much is refused
	window bool // whether some beginning of periods explains both
	open   bool // where the periods begin is not known, and each bound takes the place that suits it
}

// sides are those that the checks leave in.
func (j *Judge) sides(l scenarios.Limit) sides {
	asked := func(check string) bool { return scenarios.Covers(j.opts.Checks, check) }
	a := sides{upper: asked(CheckUpper), lower: asked(CheckLower), window: asked(CheckWindow) && begins(l.Contract) && len(j.limits) == 1}
	a.open = begins(l.Contract) && !a.window && l.Align != scenarios.AlignFirstHit
	return a
}

// small and large report whether a limiter that is too small, or too large, would
// be caught by what is asked.
func (a sides) small() bool { return a.lower || a.window }
func (a sides) large() bool { return a.upper || a.window }

func (s *sample) resolution(limits []scenarios.Limit, i int, wanted int64, asked sides) results.Resolution {
	r := resolution{s, s.moments(), limits, i, asked}
	l := limits[i]
	out := results.Resolution{Limit: l.Name, WantedPct: float64(wanted) / 10_000}
	if l.Contract == scenarios.BestEffort {
		out.Unbound = true
		return out
	}
	if out.Refuted = r.refutes(l, 0); out.Refuted {
		return out
	}
	out.BurstLow, out.BurstHigh = r.size(-1), r.size(+1)
	if l.Rate.Count == 0 {
		return out
	}
	slow, fast := r.rate(-1), r.rate(+1)
	switch {
	case l.Contract == scenarios.Queue:
		if asked.upper {
			fast = min(fast, r.faster())
		}
	case slow != errorSteps && fast != errorSteps:
		// A limiter that is slower is to the promise what this one is to a faster promise,
		// and is granted as much: rounding, which no faster one is.
		slow, fast = max(slow, fast), max(slow, fast)
	}
	perSecond := l.Rate.PerSecond()
	at := func(sign, step int) *float64 {
		if step == errorSteps {
			return nil
		}
		v := perSecond * (1 + float64(sign)*float64(errorStep(step))/1e6)
		return &v
	}
	out.RateLow, out.RateHigh = at(-1, slow), at(+1, fast)
	if out.RateLow != nil && out.RateHigh != nil {
		pct := float64(max(errorStep(slow), errorStep(fast))) / 10_000
		out.RatePct = &pct
	}
	return out
}

// errorSteps is how many errors in the rate are tried: from 100 parts per
// million to 100 %, each 5 % larger than the one before.
const errorSteps = 189

// errorStep is the error at an index, in parts per million.
func errorStep(i int) int64 {
	return min(int64(100*math.Pow(1.05, float64(i))), 1_000_000)
}

// deviation is in what a limiter differs from the promise.
type deviation struct {
	size int64 // so many more at once; less than 0: fewer
	ppm  int64 // its rate in parts per million of the promised one
}

// asPromised is none.
const asPromised = 1_000_000

// mirrored is what the promise is to a limiter that deviates so.
func (d deviation) mirrored() deviation {
	return deviation{-d.size, asPromised * asPromised / d.ppm}
}

// off is the limit that deviates so.
func (r *resolution) off(d deviation) scenarios.Limit {
	l := r.limits[r.i]
	n := sizeOf(&l)
	*n = max(1, *n+d.size)
	switch {
	case d.ppm == asPromised:
		return l
	case periodic(l.Contract): // a shorter period is a faster rate
		l.Rate.Per = time.Duration(float64(l.Rate.Per) * asPromised / float64(d.ppm))
	default:
		l.Rate = l.Rate.Times(d.ppm, asPromised)
	}
	if l.Align == scenarios.AlignEpoch { // a wrong period is not held to the right one's multiples since 1970
		l.Align = scenarios.AlignStart
	}
	return l
}

// caught reports whether a limiter that deviates would have been caught, one that is
// smaller or slower (sign -1) or larger or faster (+1). The record has to refute it: it
// was asked for enough to tell the two apart. Where each bound takes periods to begin
// where it suits it, the record has to refute the mirrored promise as well: to that one
// this limiter is what the deviating one is to the promise.
func (r *resolution) caught(d deviation, sign int64) bool {
	if c := r.limits[r.i].Contract; d.size != 0 && (c == scenarios.Queue || c == scenarios.Concurrency) {
		// Where what is held back is not seen, a refusal tells that so many were there, and
		// no admission that there were not more.
		return r.refutes(r.off(d.mirrored()), -sign)
	}
	return r.refutes(r.off(d), sign) && (!r.asked.open || r.refutes(r.off(d.mirrored()), -sign))
}

// refutes reports whether the record refutes another promise in the limit's place,
// one that is smaller or slower (sign -1), larger or faster (+1) or the same. Where
// not all is asked for, a smaller one is refuted by what was admitted alone, and a
// larger one by what was refused.
func (r *resolution) refutes(l scenarios.Limit, sign int64) bool {
	limits := slices.Clone(r.limits)
	limits[r.i] = l
	if r.asked.window || r.asked.upper && r.asked.lower && !r.asked.open {
		return r.sample.try(r.moments, limits, r.i)
	}
	over, wrong := r.sample.bounded(r.moments, limits, r.i)
	switch {
	case sign < 0:
		return over
	case sign > 0:
		return wrong
	}
	return r.asked.upper && over || r.asked.lower && wrong
}

// rate is the index of the smallest error in the rate that would have been caught on a
// side, or errorSteps.
func (r *resolution) rate(sign int64) int {
	if sign < 0 && !r.asked.small() || sign > 0 && !r.asked.large() {
		return errorSteps
	}
	return leastRefuted(0, errorSteps, func(i int) bool {
		// a tenth of the rate stands for all that is slower
		return r.caught(deviation{0, max(asPromised+sign*errorStep(i), asPromised/10)}, sign)
	})
}

// size is the nearest burst, or number in a window, that would have been caught on a
// side.
func (r *resolution) size(sign int64) *int64 {
	if sign < 0 && !r.asked.small() || sign > 0 && !r.asked.large() {
		return nil
	}
	l := r.limits[r.i]
	base := *sizeOf(&l)
	most := int(base*3 + 64)
	if sign < 0 {
		most = int(base - 1)
	}
	d := leastRefuted(1, most+1, func(d int) bool { return r.caught(deviation{sign * int64(d), asPromised}, sign) })
	if d > most {
		return nil
	}
	v := base + sign*int64(d)
	return &v
}

// sizeOf is the number that a limit admits at once.
func sizeOf(l *scenarios.Limit) *int64 {
	if l.Size() == l.Rate.Count && l.Burst == 0 {
		return &l.Rate.Count
	}
	return &l.Burst
}

// periodic reports whether a contract speaks of periods, whose length is what
// its rate can be wrong in.
func periodic(c scenarios.Contract) bool { return c.Forgets() || c == scenarios.Lumps }

// leastRefuted is the least i in [lo, hi) from which on errors are refuted, or
// hi. Larger errors are easier to see; where a model is not quite so regular,
// the larger ones are tried as well before it is claimed.
func leastRefuted(lo, hi int, refuted func(int) bool) int {
	if lo >= hi || !refuted(hi-1) {
		return hi
	}
	low, high := lo-1, hi-1 // high is refuted, low is not
	for high-low > 1 {
		mid := (low + high) / 2
		if refuted(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// reaches reports whether an error of wanted ppm in the rate would have been
// caught on a side: too slow or too fast.
func reaches(bound *float64, promised float64, wanted int64) bool {
	return bound != nil && math.Abs(*bound-promised)/promised*1e6 <= float64(wanted)*(1+1e-9)
}

// sees reports whether errors of the wanted size would have been caught: in the rate
// and in the burst, too small and too large, as far as there are such errors and
// anybody asks for them.
func (a sides) sees(l scenarios.Limit, r results.Resolution, wanted int64) bool {
	promised, rated := l.Rate.PerSecond(), l.Rate.Count > 0
	small := !a.small() || (r.BurstLow != nil || l.Size() == 1) && (!rated || reaches(r.RateLow, promised, wanted))
	large := !a.large() || r.BurstHigh != nil && (!rated || reaches(r.RateHigh, promised, wanted))
	return !r.Refuted && small && large && (a.small() || a.large())
}

// seen says what a resolution could tell apart, for people.
func seen(r results.Resolution, promised float64) string {
	pct := func(b *float64) string { return digits3(math.Abs(*b-promised)/promised*100) + " %" }
	switch low, high := r.RateLow, r.RateHigh; {
	case low == nil && high == nil:
		return "no error in the rate would have been caught"
	case high == nil:
		return fmt.Sprintf("a rate too slow by %s would have been caught, one too fast by no amount", pct(low))
	case low == nil:
		return fmt.Sprintf("a rate too fast by %s would have been caught, one too slow by no amount", pct(high))
	default:
		return fmt.Sprintf("only a rate too slow by %s, too fast by %s would have been caught", pct(low), pct(high))
	}
}
