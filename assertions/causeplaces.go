package assertions

import "sort"

// atOnce searches for a limit on requests that are served at the same time: the
// most places with which no refusal was wrong. Nothing says that there are fewer.
func (d *diagnosis) atOnce(f family) (x explanation, ok bool) {
	l := d.limit()
	l.Contract, l.Align = f.contract, f.align
	wrong := sort.Search(int(min(l.Size(), sampleSize)), func(n int) bool {
		l.Burst = int64(n + 1)
		return d.wronged(l)
	})
	if wrong == 0 {
		return x, false
	}
	l.Burst = int64(wrong)
	a, fits := d.fits(l)
	return d.explained(f, l, a), fits
}
