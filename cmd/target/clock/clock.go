// Package clock is the server's own clock: one monotonic time and, derived
// from it, a wall clock that can be stepped without touching the machine's.
package clock

import (
	"fmt"
	"sync/atomic"
	"time"
)

// maxOffset bounds each of the two ways in which the wall clock is moved. Both
// together, a date of this century and a century of running stay within the
// 292 years that 64 bits of nanoseconds hold.
const maxOffset = 50 * 365 * 24 * time.Hour

// Instant is one reading of a Clock. Its three figures belong together.
type Instant struct {
	Mono   int64 // nanoseconds since the clock's base; never goes back
	Wall   int64 // nanoseconds since 1970 on the wall clock
	Offset int64 // nanoseconds that the wall clock is ahead of where it would be without any step
}

// Since1970 is the wall clock as it would be without any step: nanoseconds since
// 1970 that never go back. It is what a right limiter goes by, since windows may
// be aligned to the epoch.
func (i Instant) Since1970() int64 { return i.Wall - i.Offset }

// Clock tells monotonic and wall time. It may be read and stepped by several
// goroutines at once.
type Clock struct {
	base    time.Time
	mono    func() int64
	stepped atomic.Int64  // nanoseconds, sum of all Steps
	strobe  time.Duration // added to the wall clock every time that period has passed
	period  time.Duration // nanoseconds; 0: the clock does not step by itself
}

// New gives a clock whose wall time at monotonic 0 is that of base. mono tells
// the nanoseconds since base; nil means those of the machine's monotonic clock,
// for which base must come from time.Now.
//
// The wall clock is base plus monotonic time plus steps: corrections of the
// machine's own wall clock do not reach it.
func New(base time.Time, mono func() int64) *Clock {
	if mono == nil {
		mono = func() int64 { return int64(time.Since(base)) }
	}
	return &Clock{base: base, mono: mono}
}

// Base is the moment of monotonic 0. Made by time.Now, it maps readings to the
// other clocks of the same process.
func (c *Clock) Base() time.Time { return c.base }

// Strobe lets the wall clock step by itself: by step whenever another period
// has passed since the base, as often as 50 years hold. It must be called
// before the clock is shared.
func (c *Clock) Strobe(step, period time.Duration) { c.strobe, c.period = step, period }

// Step moves the wall clock by d, which may be negative. It returns an error,
// and does nothing, if the steps together would come to more than 50 years.
func (c *Clock) Step(d time.Duration) error {
	for {
		old := time.Duration(c.stepped.Load())
		// With d in these bounds the sum cannot overflow.
		if d.Abs() > 2*maxOffset || (old+d).Abs() > maxOffset {
			return fmt.Errorf("stepping the wall clock by %v: it would be more than 50 years off", d)
		}
		if c.stepped.CompareAndSwap(int64(old), int64(old+d)) {
			return nil
		}
	}
}

// Read takes one reading.
func (c *Clock) Read() Instant {
	mono := c.mono()
	offset := c.stepped.Load() + c.strobed(mono)
	return Instant{Mono: mono, Wall: c.base.UnixNano() + mono + offset, Offset: offset}
}

// strobed is the sum of the steps that the clock has made by itself. It is
// computed, not kept, so that no timer has to fire and virtual time works alike.
func (c *Clock) strobed(mono int64) int64 {
	if c.period <= 0 || c.strobe == 0 {
		return 0
	}
	times := min(mono/int64(c.period), int64(maxOffset/c.strobe.Abs()))
	return times * int64(c.strobe)
}
