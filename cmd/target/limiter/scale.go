package limiter

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// MaxLevel bounds the levels of a limiter, in units. A full bucket holds at most
// MaxLevel and a wrong limiter may take a level down to -MaxLevel, so that the
// difference of two levels always fits in 64 bits.
const MaxLevel = 1<<62 - 1

// scale is the exact arithmetic of a rate. With the rate in lowest terms, num
// tokens in unit nanoseconds, a token is unit units, and num units are gained
// in a nanosecond: at 5/s a token is 200,000,000 units and a nanosecond brings
// 1. Every level is a whole number of units, so nothing is rounded and nothing
// drifts.
type scale struct {
	num  int64 // units gained in a nanosecond
	unit int64 // units in a token
	full int64 // units of all tokens that there are room for, at most MaxLevel
}

// newScale is the arithmetic of so many tokens at a rate. It returns an error if
// they are more than MaxLevel units.
func newScale(tokens int64, rate scenarios.Rate) (scale, error) {
	num, den := rate.Units()
	hi, full := bits.Mul64(uint64(tokens), uint64(den))
	if hi > 0 || full > MaxLevel {
		return scale{}, fmt.Errorf("burst %d at the odd rate %v cannot be counted exactly in 64 bits; give a burst of at most %d or a rate that reduces further", tokens, rate, MaxLevel/den)
	}
	return scale{num: num, unit: den, full: int64(full)}, nil
}

// gain is what a time brings, and no more than there is room for. The product is
// taken in 128 bits: a key may have been idle for years.
func (s scale) gain(elapsed uint64, room int64) int64 {
	if hi, gain := bits.Mul64(elapsed, uint64(s.num)); hi == 0 && gain < uint64(room) {
		return int64(gain)
	}
	return room
}

// time is how long units take to be gained, rounded up.
func (s scale) time(units int64) time.Duration {
	if s.num == 1 { // as at any rate whose tokens take whole nanoseconds
		return time.Duration(units)
	}
	t := units / s.num
	if units%s.num > 0 {
		t++
	}
	return time.Duration(t)
}

// elapsed is the time from one moment to another, 0 if the other is not later.
// It is right even where the difference overflows a signed number.
func elapsed(from, to int64) uint64 {
	if to <= from {
		return 0
	}
	return uint64(to) - uint64(from)
}
