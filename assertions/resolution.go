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
}

func (s *sample) resolution(limits []scenarios.Limit, i int, wanted int64) results.Resolution {
	r := resolution{s, s.moments(), limits, i}
	l := limits[i]
	out := results.Resolution{Limit: l.Name, WantedPct: float64(wanted) / 10_000}
	if out.Refuted = r.refutes(l); out.Refuted {
		return out
	}
	out.BurstLow, out.BurstHigh = r.size(-1), r.size(+1)
	if l.Rate.Count == 0 {
		return out
	}
	slow, fast := r.rate(-1), r.rate(+1)
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

// refutes reports whether the record refutes another promise in the limit's place.
func (r *resolution) refutes(l scenarios.Limit) bool {
	limits := slices.Clone(r.limits)
	limits[r.i] = l
	return r.sample.try(r.moments, limits, r.i)
}

// rate is the index of the smallest error in the rate that is refuted on a
// side, or errorSteps.
func (r *resolution) rate(sign int64) int {
	refuted := func(i int) bool {
		l := r.limits[r.i]
		if l.Align == scenarios.AlignEpoch { // a wrong period is not held to the right one's multiples since 1970
			l.Align = scenarios.AlignStart
		}
		ppm := 1_000_000 + sign*errorStep(i)
		if sign < 0 {
			ppm = max(ppm, 100_000) // a tenth of the rate stands for all that is slower
		}
		if periodic(l.Contract) { // a shorter period is a faster rate
			l.Rate.Per = time.Duration(float64(l.Rate.Per) * 1e6 / float64(ppm))
		} else {
			l.Rate = l.Rate.Times(ppm, 1_000_000)
		}
		return r.refutes(l)
	}
	return leastRefuted(0, errorSteps, refuted)
}

// size is the nearest burst, or number in a window, that is refuted on a side.
func (r *resolution) size(sign int64) *int64 {
	base := sizeOf(&r.limits[r.i])
	most := int(*base*3 + 64)
	if sign < 0 {
		most = int(*base - 1)
	}
	refuted := func(d int) bool {
		l := r.limits[r.i]
		n := sizeOf(&l)
		*n += sign * int64(d)
		return r.refutes(l)
	}
	d := leastRefuted(1, most+1, refuted)
	if d > most {
		return nil
	}
	v := *base + sign*int64(d)
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

// seen says what a resolution could tell apart, for people.
func seen(r results.Resolution, promised float64) string {
	side := func(b *float64) string {
		if b == nil {
			return "any amount"
		}
		return digits3(math.Abs(*b-promised)/promised*100) + " %"
	}
	return fmt.Sprintf("a rate too slow by %s, too fast by %s", side(r.RateLow), side(r.RateHigh))
}
