package limiter

import (
	"math/bits"
	"time"
)

// schedule is virtual scheduling, which the generic cell rate algorithm and the
// queue have in common: a key has one moment, from which on nothing is booked
// any more. A request books the time from there, or from now if that is later,
// that rate gives to its cost. It conforms if the end of its booking is no
// further away than burst tokens take.
//
// A token takes unit/num nanoseconds, which is rarely a whole number. So the
// moment has a second part, counted in num-ths of a nanosecond, and nothing is
// rounded.
type schedule struct {
	scale
}

// Slot is the state of one key of a GCRA or a queue: 16 bytes, a moment that is
// At nanoseconds and Part num-ths of one, where num is the rate's: tokens that
// come in a whole number of nanoseconds, in lowest terms.
type Slot struct {
	At   int64 // nanoseconds
	Part int64 // 0 to num-1
}

// Clone is a copy.
func (k *Slot) Clone() State {
	c := *k
	return &c
}

func (k *Slot) isAfter(now int64) bool { return k.At > now || k.At == now && k.Part > 0 }

// from is when a booking made now begins.
func (c schedule) from(k *Slot, now int64) Slot {
	if k.isAfter(now) {
		return *k
	}
	return Slot{At: now}
}

// move is the moment so many units of time later, or earlier if they are
// negative. A nanosecond is num units.
func (c schedule) move(k Slot, units int64) Slot {
	if c.num == 1 { // as at any rate whose tokens take whole nanoseconds
		k.At += units
		return k
	}
	k.At += units / c.num
	k.Part += units % c.num
	switch {
	case k.Part < 0:
		k.Part += c.num
		k.At--
	case k.Part >= c.num:
		k.Part -= c.num
		k.At++
	}
	return k
}

// until is the time from now to a moment, rounded up.
func (c schedule) until(k Slot, now int64) time.Duration {
	if !k.isAfter(now) {
		return 0
	}
	t := k.At - now
	if k.Part > 0 {
		t++
	}
	return time.Duration(t)
}

// book books need units if they conform. start is when they begin, wait how
// long it takes until the same booking would conform.
func (c schedule) book(k *Slot, now, need int64) (start Slot, wait time.Duration, ok bool) {
	start = c.from(k, now)
	end := c.move(start, need)
	if earliest := c.move(end, -c.full); earliest.isAfter(now) {
		return start, c.until(earliest, now), false
	}
	*k = end
	return start, 0, true
}

// room is what can still be booked at now, in units. It is negative only for a
// moment that is earlier than one seen before: then time that was booked lies
// further away than any that may be.
func (c schedule) room(k Slot, now int64) int64 {
	if !k.isAfter(now) {
		return c.full
	}
	if d := uint64(k.At) - uint64(now); c.num == 1 && d <= uint64(c.full) {
		return c.full - int64(d)
	}
	hi, units := bits.Mul64(uint64(k.At)-uint64(now), uint64(c.num))
	units, carry := bits.Add64(units, uint64(k.Part), 0)
	if hi+carry > 0 || units > uint64(c.full)+MaxLevel {
		return -MaxLevel
	}
	return c.full - int64(units)
}

// tell fills in the figures of a key that holds so many tokens, and had so much
// room before.
func (c schedule) tell(d *Decision, before int64, k Slot, now, tokens int64) {
	d.Before, d.After, d.Unit, d.Limit = before, c.room(k, now), c.unit, tokens
	d.Remaining = max(0, d.After/c.unit)
	d.Reset = c.until(k, now)
}
