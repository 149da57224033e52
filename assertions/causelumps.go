package assertions

import (
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// lumped searches for so many tokens at a time: those that keep what is promised
// first, then those whose period the record tells.
func (d *diagnosis) lumped(f family) (x explanation, ok bool) {
	tries := 0
	try := func(b, k int64, per time.Duration) bool {
		l := d.as(f, b, scenarios.Rate{Count: k, Per: per})
		if tries >= maxTries || d.wronged(l) || d.over(l) {
			return false
		}
		tries++
		a, fits := d.fits(l)
		if fits {
			x = d.explained(f, l, a)
		}
		return fits
	}
	// As many as were seen to come most often, as often as was seen: that takes little
	// work, and there may be none left for it.
	for _, k := range head(d.clues.repeats, 1) {
		for _, b := range head(d.sizes(), 2) {
			if k < b && d.periodic(f, b, k, try) {
				return x, true
			}
		}
	}
	for _, b := range d.sizes() {
		for _, k := range d.lumps(b) {
			for _, per := range d.lumpPeriods(k) {
				if try(b, k, per) {
					return x, true
				}
			}
		}
	}
	for _, b := range d.sizes() {
		for _, k := range head(d.lumps(b), 5) {
			if d.periodic(f, b, k, try) {
				return x, true
			}
		}
	}
	return x, false
}

// periodic tries the periods of lumps of k over which what came back lies on one grid.
func (d *diagnosis) periodic(f family, b, k int64, try func(b, k int64, per time.Duration) bool) bool {
	lo, hi, some := d.between(d.as(f, b, scenarios.Rate{Count: k, Per: d.time(k)}))
	return some && slices.ContainsFunc(d.folded(f, lo, hi), func(per time.Duration) bool { return try(b, k, per) })
}

// maxTries is how many lumps are tried on the record that no bound speaks against.
const maxTries = 48

// lumps are the numbers that may come at a time, those seen first. A lump of
// the whole burst is a window and not looked for here.
func (d *diagnosis) lumps(b int64) (lumps []int64) {
	for _, k := range append([]int64{d.limit().Rate.Count}, head(d.clues.repeats, 4)...) {
		if k > 0 && k < b && !slices.Contains(lumps, k) {
			lumps = append(lumps, k)
		}
	}
	for k := int64(1); k < b && b == d.limit().Size() && len(lumps) < 40; k++ {
		if !slices.Contains(lumps, k) {
			lumps = append(lumps, k)
		}
	}
	return lumps
}

// lumpPeriods are the times from one lump of k to the next that are worth a
// trial before any is searched for.
func (d *diagnosis) lumpPeriods(k int64) []time.Duration {
	periods := []time.Duration{d.time(k)}
	if promise := d.limit(); promise.Contract == scenarios.Lumps && promise.Rate.Per != periods[0] {
		periods = append(periods, promise.Rate.Per) // as often as is promised, and not as many
	}
	if t := d.measured() * time.Duration(k); t > 0 && abs(int64(t-periods[0])) > int64(t)/500 {
		periods = append(periods, roundest(t-t/100, t+t/100))
	}
	return periods
}
