package assertions

import (
	"cmp"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// What a limiter tells its clients to wait is a hint at what it is: a window
// tells the time to its end, a bucket that to its next token. Who keeps its
// promise badly may lie here as well, so that it decides only between
// explanations that the record does not refute.

// forecast is what a limiter of some kind would tell the keys to wait, reckoned
// from what was really admitted.
type forecast struct {
	family family
	n      int64   // at once
	period int64   // ticks: of windows and lumps; of a bucket, that burst tokens take
	lump   int64   // tokens, of lumps
	phase  int64   // ticks: of a grid
	drift  int64   // parts per million
	past   []brief // admissions on the key
	opened brief   // of windows and lumps that a request opens
	level  float64 // of a bucket, at at
	at     int64
	blur   int64 // ticks: the longest that an admission was under way
}

// again is the stretch in which a refused request would be admitted, by the
// forecast; ok is false where it has none.
func (f *forecast) again(x *brief) (lo, hi int64, ok bool) {
	switch f.family {
	case family{scenarios.FixedWindow, scenarios.AlignStart}, family{scenarios.Lumps, scenarios.AlignStart}:
		e := f.edge(x.from)
		return e, e, true
	case family{scenarios.FixedWindow, scenarios.AlignFirstHit}:
		return f.opened.from + f.period, f.opened.to + f.period, f.opened.cost > 0
	case family{scenarios.Lumps, scenarios.AlignFirstHit}:
		f.drop(x)
		return f.opened.from + f.period, f.opened.to + f.period, true
	case family{scenarios.SlidingLog, ""}:
		if int64(len(f.past)) < f.n {
			return 0, 0, false
		}
		first := f.past[int64(len(f.past))-f.n]
		return first.from + f.period, first.to + f.period, true
	case family{scenarios.SlidingCounter, ""}:
		e := f.estimated(x.from)
		return e, e, true
	case family{scenarios.TokenBucket, ""}, family{scenarios.Queue, ""}:
		f.fill(x.from)
		e := x.from + int64((1-min(f.level, 1))*float64(f.period)/float64(f.n))
		return e, e + f.blur, true
	}
	return 0, 0, false
}

// edge is the next line of the grid behind t.
func (f *forecast) edge(t int64) int64 { return t + f.period - mod(t-f.phase, f.period) }

// estimated is when the estimate of a sliding counter leaves room again.
func (f *forecast) estimated(t int64) int64 {
	began := f.edge(t) - f.period
	var before, now int64
	for i := len(f.past) - 1; i >= 0 && f.past[i].from >= began-f.period; i-- {
		if f.past[i].from >= began {
			now++
		} else {
			before++
		}
	}
	if now >= f.n { // not before the next window, where these count as the one before
		began, before, now = began+f.period, now, 0
	}
	if before == 0 {
		return began
	}
	// before*(1-x) + now + 1 <= n
	return began + max(0, int64(float64(f.period)*(1-float64(f.n-now-1)/float64(before))))
}

// fill brings a bucket up to t.
func (f *forecast) fill(t int64) {
	if t > f.at {
		f.level = min(float64(f.n), f.level+float64(t-f.at)*float64(f.n)/float64(f.period))
		f.at = t
	}
}

// drop brings a bucket whose lumps are counted from a request up to another one.
// Where that finds it full, they are counted from it.
func (f *forecast) drop(x *brief) {
	passed := max((x.from+x.to)/2-(f.opened.from+f.opened.to)/2, 0) / f.period
	if f.level = min(f.level+float64(passed*f.lump), float64(f.n)); f.level == float64(f.n) {
		f.opened = *x
		return
	}
	f.opened.from += passed * f.period
	f.opened.to += passed * f.period
}

// admitted takes in an admission.
func (f *forecast) admitted(x *brief) {
	switch {
	case f.family == (family{scenarios.Lumps, scenarios.AlignFirstHit}):
		f.drop(x)
		f.level--
		return
	case f.opened.cost == 0,
		f.family.contract == scenarios.FixedWindow && x.from >= f.opened.to+f.period,
		f.family.contract == scenarios.FixedWindow && (x.from+x.to)/2 >= (f.opened.from+f.opened.to)/2+f.period:
		f.opened = *x
	}
	f.past = append(f.past, *x)
	f.blur = max(f.blur, x.to-x.from)
	f.fill(x.from)
	f.level-- // a little below zero where it was decided a little later
}

// asTold is the sample's requests by key, admissions in the order they were sent
// and among them refusals when they were answered: what overlaps a refusal was
// most likely admitted before it.
func (s *sample) asTold() map[int32][]*sampled {
	keys := s.byKey()
	at := func(h *sampled) int64 {
		if h.spends() {
			return h.from
		}
		return h.to
	}
	for _, hits := range keys {
		slices.SortStableFunc(hits, func(a, b *sampled) int { return cmp.Compare(at(a), at(b)) })
	}
	return keys
}

// unforetold is for what agrees where an explanation has no forecast: neither for
// it nor against it.
const unforetold = 0.95

// foretells reports whether the waits of a family can be forecast.
func (f family) foretells() bool {
	return f.contract != scenarios.Concurrency && (f.contract != scenarios.FixedWindow || f.align != "")
}

// agrees is the share of the answers to refusals that are what the explanation
// would have told, under the rounding that suits it best; 1 where none told.
func (d *diagnosis) agrees(x explanation, phase int64) float64 {
	if !x.family.foretells() {
		return unforetold
	}
	right, told := [3]int{}, 0
	for _, hits := range d.keyed {
		f := forecast{family: x.family, n: x.limit.Size(), period: d.sample.ticks(x.limit.Rate.Per), lump: x.limit.Rate.Count, phase: phase,
			drift: max(x.limit.Slack.Over, x.limit.Slack.Under), level: float64(x.limit.Size())}
		if x.family.contract == scenarios.Queue { // one is released at once
			f.n, f.level = f.n+1, f.level+1
		}
		if x.family.contract == scenarios.TokenBucket || x.family.contract == scenarios.Queue {
			f.period = d.sample.ticks(x.limit.Rate.Time(f.n))
		}
		for _, h := range hits {
			switch {
			case h.outcome == results.Admitted:
				f.admitted(&h.brief)
			case h.outcome == results.Limited && h.asks.Form == results.RetrySeconds:
				told++
				d.compare(&right, &f, h)
			}
		}
	}
	if told == 0 {
		return 1
	}
	return float64(max(right[0], right[1], right[2])) / float64(told)
}

// compare counts the roundings under which a refusal told what is forecast: up,
// down, and to the nearest second.
func (d *diagnosis) compare(right *[3]int, f *forecast, h *sampled) {
	lo, hi, ok := f.again(&h.brief)
	if !ok {
		return
	}
	second := d.sample.ticks(time.Second)
	// A period that was found is right to a few thousandths.
	blur := share(max(hi-h.from, 0), f.drift) + share(f.period, 3000) + d.sample.ticks(time.Millisecond)
	told := d.sample.ticks(h.asks.Wait)
	for i, least := range [...]int64{told - second, told, told - second/2} {
		if hi+blur >= h.from+least && lo-blur <= h.to+least+second {
			right[i]++
		}
	}
}

// Phases are looked at in two rounds: so many all over the period, then as many
// around the best.
const phases = 256

// tuned moves the grid of an explanation to where it suits best what refusals
// told, as far as the record allows it, and weighs how well it does.
func (d *diagnosis) tuned(x explanation) explanation {
	x.waits = d.agrees(x, x.by.middle())
	if !x.by.grid || x.waits == 1 {
		return x
	}
	period := d.sample.ticks(x.limit.Rate.Per)
	lo, width := int64(0), period
	best, at := x.waits, int64(-1)
	for range 2 {
		for i := range int64(phases) {
			phase := lo + width/phases*i
			if w := d.agrees(x, phase); w > best {
				best, at = w, phase
			}
		}
		if at < 0 {
			return x
		}
		lo, width = at-width/phases, 2*width/phases
	}
	if at = mod(at, period); d.allows(&x, at, at+max(width/phases, 1)) {
		x.waits = best
	}
	return x
}

// allows puts the grid of an explanation between lo and hi if the sample does
// not rule it out there.
func (d *diagnosis) allows(x *explanation, lo, hi int64) bool {
	limits := d.with(x.limit)
	if x.by.at != nil {
		if d.work -= int64(len(d.moments)); d.sample.rules(d.moments, limits, d.i, x.by.at(lo, hi)) {
			return false
		}
		x.by.lo, x.by.hi = lo, hi
		return true
	}
	c := newCourt(d.sample.scene, limits)
	d.sample.play(c, d.moments, d.i)
	for _, t := range c.all[d.i] {
		if t.grid != nil && !t.grid.bad.has(lo) {
			x.by.lo, x.by.hi = lo, hi
			return true
		}
	}
	return false
}
