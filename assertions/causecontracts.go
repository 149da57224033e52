package assertions

import (
	"cmp"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// family is a contract, with where its periods begin, whose numbers are searched.
type family struct {
	contract scenarios.Contract
	align    scenarios.Align
}

// families are the contracts that are tried on a record, the likeliest first
// among those that explain it equally well.
func families() []family {
	return []family{
		{scenarios.TokenBucket, ""},
		{scenarios.FixedWindow, scenarios.AlignStart},
		{scenarios.FixedWindow, scenarios.AlignFirstHit},
		{scenarios.SlidingLog, ""},
		{scenarios.SlidingCounter, ""},
		{scenarios.Lumps, scenarios.AlignStart},
		{scenarios.Lumps, scenarios.AlignFirstHit},
		{scenarios.Queue, ""},
	}
}

// tried reports whether numbers can be searched for a family that is none of
// those that are tried on every record.
func (f family) tried() bool {
	switch f.contract {
	case scenarios.FixedWindow, scenarios.Concurrency:
		return true
	case scenarios.SlidingCounter, scenarios.Lumps:
		return f.align == scenarios.AlignEpoch
	}
	return false
}

// explanation is a limit that explains the sample.
type explanation struct {
	family family
	limit  scenarios.Limit
	by     account
	kept   int     // how many of the promised numbers it has: the size, the rate
	waits  float64 // share of the Retry-After that are what it would have said
	factor float64 // by which both promised numbers are multiplied; 0: they are not
	apart  bool    // the promise is kept by several limiters side by side, as many as factor says
}

// explain searches the numbers with which a contract explains the sample.
func (d *diagnosis) explain(f family) (explanation, bool) {
	switch f.contract {
	case scenarios.TokenBucket, scenarios.Queue:
		return d.bucketed(f)
	case scenarios.Lumps:
		return d.lumped(f)
	case scenarios.Concurrency:
		return d.atOnce(f)
	}
	return d.windowed(f)
}

// as is the broken limit with another contract and other numbers.
func (d *diagnosis) as(f family, burst int64, r scenarios.Rate) scenarios.Limit {
	l := d.limit()
	l.Contract, l.Align, l.Burst, l.Rate = f.contract, f.align, burst, r
	return l
}

// token is how long one takes by the promise; by the record where it has no rate.
func (d *diagnosis) token() time.Duration {
	if t := d.limit().Token(); t > 0 {
		return t
	}
	return max(d.measured(), time.Millisecond)
}

// time is how long n tokens take.
func (d *diagnosis) time(n int64) time.Duration {
	if r := d.limit().Rate; r.Count > 0 {
		return r.Time(n)
	}
	return d.token() * time.Duration(n)
}

// measured is how long a token took under pressure; 0: it was not seen.
func (d *diagnosis) measured() time.Duration {
	if len(d.clues.tokens) == 0 {
		return 0
	}
	return d.duration(d.clues.tokens[len(d.clues.tokens)/2])
}

func (d *diagnosis) duration(ticks int64) time.Duration {
	return time.Duration(ticks * d.sample.tick)
}

// sizes are the numbers at once that are worth a trial.
func (d *diagnosis) sizes() (sizes []int64) {
	add := func(n int64) {
		if d.likely(n) && !slices.Contains(sizes, n) {
			sizes = append(sizes, n)
		}
	}
	add(d.limit().Size())
	for _, n := range head(d.clues.first, 2) {
		add(n)
	}
	if len(d.clues.first) > 0 { // around an edge, or at a high rate, more pass
		add(slices.Min(d.clues.first))
	}
	for _, n := range head(d.clues.repeats, 1) {
		add(n)
	}
	add(d.clues.most)
	if n := d.limit().Size(); len(d.limits) > 1 { // which new keys show of the smallest one alone
		add(n - 1)
		add(n + 1)
	}
	return sizes
}

// likely reports whether so many at once can be the size: a new key was refused
// only when it had had that many.
func (d *diagnosis) likely(n int64) bool {
	return n > 0 && (!d.sample.fresh || len(d.limits) > 1 || d.clues.most == 0 || n <= d.clues.most)
}

func head[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// windowed searches for so many in a window of some length: those that keep what
// is promised first, without a search.
func (d *diagnosis) windowed(f family) (x explanation, ok bool) {
	usual := cmp.Or(d.limit().Rate.Per, d.token())
	for _, n := range d.sizes() {
		for _, per := range slices.Compact([]time.Duration{d.time(n), usual}) {
			l := d.as(f, 0, scenarios.Rate{Count: n, Per: per})
			if d.wronged(l) || d.over(l) {
				continue
			}
			if a, fits := d.fits(l); fits {
				return d.explained(f, l, a), true
			}
		}
	}
	if f.contract == scenarios.FixedWindow && f.align == "" {
		return x, false // of any length each key could have the windows that suit it
	}
	for _, n := range d.sizes() {
		l := d.as(f, 0, scenarios.Rate{Count: n, Per: d.time(n)})
		rough := l
		if f.contract == scenarios.FixedWindow { // what holds wherever they begin
			rough.Align = scenarios.AlignStart
		}
		lo, hi, some := d.between(rough)
		if !some {
			continue
		}
		for _, per := range d.lengths(f, n, lo, hi) {
			l.Rate.Per = per
			if a, fits := d.fits(l); fits {
				return d.explained(f, l, a), true
			}
		}
	}
	return x, false
}

// lengths are the periods of windows of n that are worth a trial, within what
// is possible: the promised one, those seen, and some all over the stretch.
func (d *diagnosis) lengths(f family, n int64, lo, hi time.Duration) (lengths []time.Duration) {
	add := func(t time.Duration) {
		near := func(o time.Duration) bool { return abs(int64(o-t)) < int64(t)/5000 }
		if t >= lo && t <= hi && t > 0 && !slices.ContainsFunc(lengths, near) {
			lengths = append(lengths, t)
		}
	}
	add(d.time(n))
	add(d.limit().Rate.Per)
	switch {
	case f == (family{scenarios.FixedWindow, scenarios.AlignStart}):
		for _, t := range d.folded(f, lo, hi) {
			add(t)
		}
	case f.contract == scenarios.SlidingCounter:
		for _, t := range d.narrowed(d.as(f, 0, scenarios.Rate{Count: n}), lo, hi) {
			add(t)
		}
	}
	seen := d.spacings()
	if t := d.measured(); t > 0 {
		seen = append([]time.Duration{t * time.Duration(n)}, seen...)
	}
	for _, t := range seen {
		for _, within := range []time.Duration{t / 100, t / 500} {
			add(roundest(t-within, t+within))
		}
		add(t)
	}
	add(roundest(lo, hi))
	const most = 24
	for i := range time.Duration(most + 1) {
		add(lo + (hi-lo)/most*i)
	}
	return lengths
}

// narrowed are periods for which a search for a phase finds one on the keys that
// were asked most often, the middles and the roundest of the stretches that they
// form: a small part of the record, which rules most of them out.
func (d *diagnosis) narrowed(l scenarios.Limit, lo, hi time.Duration) (periods []time.Duration) {
	part := d.sample.busiest(narrowHits)
	moments := part.moments()
	from, to := time.Duration(0), time.Duration(0)
	flush := func() {
		if to > 0 {
			periods = append(periods, roundest(from, to), from+(to-from)/2)
		}
		from, to = 0, 0
	}
	step := max((hi-lo)/narrowSteps, lo/200, 1)
	for p := lo; p <= hi; p += step {
		l.Rate.Per = p
		if !d.phaseOn(part, moments, l) {
			flush()
			continue
		}
		if from == 0 {
			from = p
		}
		to = p
	}
	flush()
	return periods
}

const (
	narrowHits  = 200
	narrowSteps = 100
)

// phaseOn reports whether some phase explains a part of the record.
func (d *diagnosis) phaseOn(part *sample, moments []moment, l scenarios.Limit) bool {
	limits := d.with(l)
	for _, t := range newCourt(part.scene, limits).all[d.i] {
		for _, p := range t.phased {
			if d.work -= int64(phaseWork * len(moments)); d.work < 0 {
				return false
			}
			if _, _, ok := part.explained(moments, limits, d.i, p); ok {
				return true
			}
		}
	}
	return false
}

// spacings are the times from one group of admissions to the next, a few of
// those that differ, the shortest and the middle first.
func (d *diagnosis) spacings() (out []time.Duration) {
	s := d.clues.spaces
	if len(s) == 0 {
		return nil
	}
	for _, i := range []int{len(s) / 2, 0, len(s) / 4, len(s) * 3 / 4, len(s) - 1} {
		out = append(out, d.duration(s[i]))
	}
	return out
}

// explained fills in what speaks for an explanation.
func (d *diagnosis) explained(f family, l scenarios.Limit, a account) explanation {
	x := explanation{family: f, limit: l, by: a}
	promise := d.limit()
	if l.Size() == promise.Size() {
		x.kept++
	}
	if same(l.Token(), promise.Token()) && (f.contract != scenarios.Lumps || l.Rate == promise.Rate) {
		x.kept++ // a lump that was not promised is one number more, which makes up for it
	}
	if has, _ := f.contract.Numbers(); f.contract == d.promised() && !has.Burst && l.Rate.Per == promise.Rate.Per && l.Rate.Count != promise.Rate.Count {
		x.factor = wholeFactor(l.Rate.Count, promise.Rate.Count)
	}
	return d.tuned(x)
}

// wholeFactor is a/b where one is a whole multiple of the other, else 0.
func wholeFactor(a, b int64) float64 {
	if a%b == 0 || b%a == 0 {
		return float64(a) / float64(b)
	}
	return 0
}

// same reports whether two lengths are equal but for what was rounded.
func same(a, b time.Duration) bool { return abs(int64(a-b)) <= int64(b)/1_000_000 }
