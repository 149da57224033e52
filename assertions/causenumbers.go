package assertions

import (
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// bucketed searches for the burst and the rate of a bucket. Of those that
// explain the sample it gives the one nearest to the promise: with its rate or
// its burst, then both multiplied by a whole number or divided by one.
func (d *diagnosis) bucketed(f family) (best explanation, ok bool) {
	promise := d.limit()
	rank := 0
	for _, b := range d.bursts(f) {
		l := d.as(f, b, scenarios.Rate{Count: 1, Per: d.token()})
		lo, hi, some := d.between(l)
		if !some {
			continue
		}
		r, factor := d.rateIn(b, lo, hi)
		l.Rate = r
		a, fits := d.fits(l)
		if !fits {
			continue
		}
		x := d.explained(f, l, a)
		x.factor = factor
		score := 1 + 4*x.kept
		if factor != 0 {
			score = 4
		}
		if size := promise.Size(); x.kept == 1 && b != size && abs(b-size) == 1 {
			score++
		}
		if d.usual(x) {
			score += 2
		}
		if score > rank {
			best, ok, rank = x, true, score
		}
	}
	return best, ok
}

// usual reports whether a new key that was asked for more had at most as many at
// once as an explanation gives it.
func (d *diagnosis) usual(x explanation) bool {
	n := x.limit.Burst
	if x.family.contract == scenarios.Queue {
		n++
	}
	return d.clues.most == n
}

// bursts are the sizes that are worth a trial for a bucket: the promised one,
// its neighbours and its multiples, and those seen, less what may have come in
// while they were taken.
func (d *diagnosis) bursts(f family) (sizes []int64) {
	b := d.limit().Size()
	all := []int64{b, b + 1, b - 1}
	for _, n := range d.sizes() {
		all = append(all, n, n-1, n-2)
	}
	for m := int64(2); m <= 8; m++ {
		all = append(all, b*m)
		if b%m == 0 {
			all = append(all, b/m)
		}
	}
	for _, n := range all {
		if d.likely(n) && (f.contract != scenarios.Queue || d.crowded(n)) && !slices.Contains(sizes, n) {
			sizes = append(sizes, n)
		}
	}
	return sizes
}

// crowded reports whether a queue of so many places can have let in what new keys
// had at once. It could have decided on them later, when there was room, as long
// as none of them was answered: no bound speaks against that, but nobody does it.
func (d *diagnosis) crowded(places int64) bool {
	return !d.sample.fresh || len(d.clues.first) == 0 || places+1 >= slices.Min(d.clues.first)
}

// rateIn is the rate to name of those whose tokens take from lo to hi: the
// promised one, the one multiplied as the burst b is, or the roundest.
func (d *diagnosis) rateIn(b int64, lo, hi time.Duration) (r scenarios.Rate, factor float64) {
	promise := d.limit()
	within := func(t time.Duration) bool { return t >= lo-lo/1_000_000 && t <= hi+hi/1_000_000 }
	size, token := promise.Size(), promise.Token()
	switch {
	case token > 0 && within(token):
		return promise.Rate, 0
	case token > 0 && b != size && within(token*time.Duration(size)/time.Duration(b)):
		return scaled(promise.Rate, b, size), float64(b) / float64(size)
	}
	return roundRate(lo, hi), 0
}

// roundest is the length of fewest digits from lo to hi: the largest of the
// units people count in of which there is a multiple, the one nearest the middle.
func roundest(lo, hi time.Duration) time.Duration {
	middle := lo + (hi-lo)/2
	for unit := 24 * time.Hour; ; unit = smaller(unit) {
		n := (middle + unit/2) / unit * unit
		if n >= lo && n <= hi && n > 0 || unit == time.Nanosecond {
			return max(n, 1)
		}
	}
}

// smaller is the next smaller unit of time.
func smaller(unit time.Duration) time.Duration {
	switch {
	case unit > time.Hour:
		return time.Hour
	case unit > time.Minute:
		return time.Minute
	case unit > 10*time.Second:
		return 10 * time.Second
	}
	return unit / 10
}

// roundRate is the rate of fewest digits, a second or a minute, whose tokens
// take from lo to hi.
func roundRate(lo, hi time.Duration) scenarios.Rate {
	for per := time.Second; per <= 10_000*time.Second; per *= 10 {
		// Count tokens in per: each takes per/Count.
		for _, p := range []time.Duration{per, per * 6} {
			n := int64((p + lo + (hi-lo)/2 - 1) / (lo + (hi-lo)/2))
			for _, count := range []int64{n, n - 1} {
				if count > 0 && p/time.Duration(count) >= lo && p/time.Duration(count) <= hi {
					return scenarios.Rate{Count: count, Per: p}
				}
			}
		}
	}
	return scenarios.Rate{Count: 1, Per: lo + (hi-lo)/2}
}
