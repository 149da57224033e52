package assertions

import (
	"fmt"
	"math"
	"slices"

	"github.com/ratehammer/ratehammer/results"
)

// resolution finds which buckets the record refutes: a smaller or slower one
// would have had to refuse what was admitted, a larger or faster one to admit
// what was refused. What is not refuted lies between, and the distance to the
// promise is the smallest error that the run would have caught. It is found by
// running the two checks again at other promises; no formula and no guess.
func (s *sample) resolution(wanted int64) results.Resolution {
	r := results.Resolution{Limit: s.limit.Name, WantedPct: float64(wanted) / 10_000}
	slots := make([]int32, 0, len(s.keys))
	for k := range s.keys {
		slots = append(slots, k)
	}
	slices.SortFunc(slots, func(a, b int32) int { // those with most to say first
		if d := len(s.keys[b].hits) - len(s.keys[a].hits); d != 0 {
			return d
		}
		return int(a - b)
	})
	slow, fast := errorSteps, errorSteps
	for _, k := range slots {
		h := s.keys[k]
		m := s.moments(h)
		s.bursts(&r, h, m)
		slow = s.nearest(slow, func(ppm int64) bool { return s.refutesSlower(h, m, ppm) })
		if h.refused > 0 {
			fast = s.nearest(fast, func(ppm int64) bool { return s.refutesFaster(h, m, ppm) })
		}
	}
	s.rates(&r, slow, fast)
	return r
}

// errorSteps is how many errors in the rate are tried: from 100 parts per
// million to 100 %, each 5 % larger than the one before.
const errorSteps = 189

// errorStep is the error at an index, in parts per million.
func errorStep(i int) int64 {
	return min(int64(100*math.Pow(1.05, float64(i))), 1_000_000)
}

// nearest is the index of the smallest error below best that is refuted, or best.
func (s *sample) nearest(best int, refuted func(ppm int64) bool) int {
	if best == 0 || !refuted(errorStep(best-1)) {
		return best
	}
	lo, hi := -1, best-1 // hi is refuted, lo is not
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if refuted(errorStep(mid)) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// refutesSlower: a bucket slower by ppm would have refused something admitted.
func (s *sample) refutesSlower(h *history, m []moment, ppm int64) bool {
	if ppm >= 1_000_000 {
		ppm = 999_999
	}
	p := newTempo(s.limit.Rate.Times(1_000_000-ppm, 1_000_000), s.limit.Slack.Over, s.length(), s.limit.Burst, roundUp)
	load, any := h.load(p, m)
	return any && load > p.weigh(s.limit.Burst)
}

// refutesFaster: a bucket faster by ppm would have admitted something refused.
func (s *sample) refutesFaster(h *history, m []moment, ppm int64) bool {
	p := newTempo(s.limit.Rate.Times(1_000_000+ppm, 1_000_000), -s.limit.Slack.Under, s.length(), s.limit.Burst, roundDown)
	margin, any := h.margin(s.bucket(p, s.limit.Burst, h), m)
	return any && margin <= 0
}

func (s *sample) bucket(p tempo, burst int64, h *history) pessimist {
	start := floorDiv(-s.early, s.tick)
	if s.fresh {
		return newPessimist(p, burst, h.hits[0].from, true)
	}
	return newPessimist(p, burst, min(start, h.hits[0].from), false)
}

// bursts narrows the two bounds of the burst by one history.
func (s *sample) bursts(r *results.Resolution, h *history, m []moment) {
	up := newTempo(s.limit.Rate, s.limit.Slack.Over, s.length(), s.limit.Burst, roundUp)
	if load, any := h.load(up, m); any {
		if low := ceilDiv(load, up.den) - 1; low >= 1 && (r.BurstLow == nil || low > *r.BurstLow) {
			r.BurstLow = &low
		}
	}
	high := s.largest(h, m, r.BurstHigh)
	if high != nil {
		r.BurstHigh = high
	}
}

// largest is the smallest burst above the promise that the history refutes,
// where that is less than best.
func (s *sample) largest(h *history, m []moment, best *int64) *int64 {
	most := s.limit.Burst*4 + 64
	if best != nil {
		most = *best - 1
	}
	if h.refused == 0 || most <= s.limit.Burst || !s.refutesBurst(h, m, most) {
		return best
	}
	lo, hi := s.limit.Burst, most // hi is refuted, lo is the promise
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if s.refutesBurst(h, m, mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return &hi
}

// refutesBurst: a bucket of this burst would have admitted something refused.
func (s *sample) refutesBurst(h *history, m []moment, burst int64) bool {
	p := newTempo(s.limit.Rate, -s.limit.Slack.Under, s.length(), burst, roundDown)
	margin, any := h.margin(s.bucket(p, burst, h), m)
	return any && margin <= 0
}

func (s *sample) rates(r *results.Resolution, slow, fast int) {
	pct := math.Inf(1)
	perSecond := s.limit.Rate.PerSecond()
	if slow < errorSteps {
		v := perSecond * (1 - float64(errorStep(slow))/1e6)
		r.RateLow = &v
	}
	if fast < errorSteps {
		v := perSecond * (1 + float64(errorStep(fast))/1e6)
		r.RateHigh = &v
	}
	if r.RateLow != nil && r.RateHigh != nil {
		pct = float64(max(errorStep(slow), errorStep(fast))) / 10_000
		r.RatePct = &pct
	}
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
