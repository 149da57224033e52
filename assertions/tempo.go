package assertions

import (
	"math/big"
	"math/bits"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// tempo is a rate as whole numbers: num/den tokens in every tick. Levels are
// kept in 1/den token, so that a tick adds num and a token counts den.
type tempo struct{ num, den int64 }

// levelLimit bounds every level, so that sums of two never overflow.
const levelLimit = 1 << 61

// Rounding says which way a rate gives that does not fit in 64 bits: each
// check rounds to the side on which it accuses less.
type rounding bool

const (
	roundDown rounding = false
	roundUp   rounding = true
)

// tickOf is the length of a tick for these limits: a nanosecond where a bucket
// can be counted exactly with it, else a microsecond or millisecond, but never
// more than a millionth of the time that a token takes. Intervals are rounded
// outwards to it, which costs a millionth of a token and keeps an odd quota per
// day within 64 bits.
func tickOf(limits []scenarios.Limit) time.Duration {
	tick := time.Nanosecond
	for _, l := range limits {
		for !exact(l, tick) && tick*1000 <= l.Rate.Time(1)/1_000_000 {
			tick *= 1000
		}
	}
	return tick
}

// exact reports whether both bounds of a limit can be counted in these ticks
// without rounding a rate.
func exact(l scenarios.Limit, tick time.Duration) bool {
	most := big.NewInt(mostUnits(l.Burst))
	for _, ppm := range []int64{l.Slack.Over, -l.Slack.Under} {
		q := ratio(l.Rate, ppm, tick)
		if !q.Num().IsInt64() || q.Denom().Cmp(most) > 0 {
			return false
		}
	}
	return true
}

// ratio is the rate times (1+ppm/10^6) in tokens a tick.
func ratio(r scenarios.Rate, ppm int64, tick time.Duration) *big.Rat {
	num, den := r.Units()
	q := big.NewRat(num, den)
	q.Mul(q, big.NewRat(1_000_000+ppm, 1_000_000))
	return q.Mul(q, big.NewRat(int64(tick), 1))
}

// mostUnits is how many units a token may have. A level may reach the burst
// plus what is in flight; 2^16 requests in flight on one key are more than a
// client can hold.
func mostUnits(burst int64) int64 { return levelLimit / (burst + 1<<16) }

// newTempo is the rate times (1+ppm/10^6) in ticks, exact where a bucket of
// burst tokens can be counted with it, else the nearest that can on the given side.
func newTempo(r scenarios.Rate, ppm int64, tick time.Duration, burst int64, side rounding) tempo {
	return fit(ratio(r, ppm, tick), mostUnits(burst), side)
}

// fit is q with a denominator of at most most, rounded to the given side.
func fit(q *big.Rat, most int64, side rounding) tempo {
	if q.Num().IsInt64() && q.Denom().IsInt64() && q.Denom().Int64() <= most && q.Num().Int64() <= levelLimit {
		return tempo{q.Num().Int64(), q.Denom().Int64()}
	}
	n := new(big.Int).Mul(q.Num(), big.NewInt(most))
	n, rest := n.QuoRem(n, q.Denom(), new(big.Int))
	if side == roundUp && rest.Sign() != 0 {
		n.Add(n, big.NewInt(1))
	}
	if !n.IsInt64() || n.Int64() > levelLimit {
		return tempo{levelLimit, most}
	}
	return tempo{n.Int64(), most}
}

// gain is what refills in so many ticks, in 1/den token, capped at levelLimit.
func (p tempo) gain(ticks int64) int64 {
	if ticks <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(p.num), uint64(ticks))
	if hi != 0 || lo > levelLimit {
		return levelLimit
	}
	return int64(lo)
}

// tokens is a level in tokens, for people.
func (p tempo) tokens(level int64) float64 { return float64(level) / float64(p.den) }
