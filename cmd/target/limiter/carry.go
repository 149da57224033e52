package limiter

import (
	"math/bits"
	"reflect"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Successor is an Algorithm that has a way of its own of taking the place of
// another one while keys are in use.
type Successor interface {
	Algorithm
	// Succeed gives what decides from now on, nil for the algorithm itself, and
	// what becomes of each state, if anything does.
	Succeed(from Algorithm) (use Algorithm, carry func(s State, now int64) (State, bool))
}

// Succeed says how an algorithm takes the place of another one whose keys are in
// use: what decides from now on, nil for to itself, and what becomes of a state.
// Where carry is not ok the key is as one that was never seen.
//
// Nobody is given anything by a change, and nobody loses what is left to him: of
// buckets and GCRA the tokens that are left are carried over, and are at most the
// new burst; windows, counters and logs keep what they have counted; a queue keeps
// the moments it has given away, and concurrency what is under way. A key that is
// as if it had never been used is that under the new settings too, and so are all
// keys where the algorithm is another one.
func Succeed(from, to Algorithm) (use Algorithm, carry func(s State, now int64) (State, bool)) {
	if s, ok := to.(Successor); ok {
		return s.Succeed(from)
	}
	return nil, func(s State, now int64) (State, bool) {
		if from.Forgettable(s, now) {
			return nil, false
		}
		return Carry(from, to, s, now)
	}
}

// Carry is what the state of a key becomes under other settings at now. It is not
// ok where the two algorithms have nothing in common.
func Carry(from, to Algorithm, s State, now int64) (next State, ok bool) {
	fresh := to.Fresh(now)
	if from.Promise().Contract != to.Promise().Contract || !sameType(s, fresh) {
		return nil, false
	}
	left, full := carried(from, to, s, now)
	switch k := fresh.(type) {
	case *Bucket:
		k.Level = left
	case *Water:
		k.Level = full - left
	case *Slot:
		carrySlot(to.Promise(), from.Promise(), s.(*Slot), k, full-left)
	case *Lump:
		k.Level = left
		if per := from.Promise().Rate.Per; per == to.Promise().Rate.Per { // the next lump comes when it was to come
			k.Mark = s.(*Lump).Mark
			k.Mark += int64(elapsed(k.Mark, now) / uint64(per) * uint64(per))
		}
	case *Excess:
		k.Level = full - left - 1000
	case *Window:
		if k.Start == now { // each key has windows of its own: this one goes on
			k.Start = s.(*Window).Start
		}
		k.Count = min(used(from, s, now), full)
	case *Page:
		k.Count = min(used(from, s, now), full)
	case *Counter:
		carryCounter(from, to, s.(*Counter), k, now)
	case *Log, *Busy: // moments and requests, whatever the settings
		return s.Clone(), true
	default:
		return nil, false
	}
	return fresh, true
}

func sameType(a, b State) bool { return reflect.TypeOf(a) == reflect.TypeOf(b) }

// carried is what is left to a key in the units of another algorithm, and what is
// left to a key of that which was never used, which it never exceeds. Part of a
// unit is lost.
func carried(from, to Algorithm, s State, now int64) (left, full int64) {
	d, all := from.View(s, now), to.View(to.Fresh(now), now)
	if d.Before < 0 { // as wrong limiters have it
		return -scaled(-d.Before, all.Unit, d.Unit), all.Before
	}
	return min(scaled(d.Before, all.Unit, d.Unit), all.Before), all.Before
}

// used is what is missing to a key, in its own units.
func used(a Algorithm, s State, now int64) int64 {
	return a.View(a.Fresh(now), now).Before - a.View(s, now).Before
}

// scaled is n*mul/div, at most MaxLevel.
func scaled(n, mul, div int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(mul))
	if hi >= uint64(div) {
		return MaxLevel
	}
	q, _ := bits.Div64(hi, lo, uint64(div))
	return int64(min(q, MaxLevel))
}

// carrySlot books so many units from the moment of a fresh slot on; but a queue has
// given moments away, and the next one comes after these.
func carrySlot(to, from scenarios.Limit, old, k *Slot, units int64) {
	num, unit := to.Rate.Units()
	if to.Contract != scenarios.Queue {
		*k = schedule{scale{num: num, unit: unit}}.move(*k, units)
		return
	}
	was, _ := from.Rate.Units()
	*k = Slot{At: old.At, Part: scaled(old.Part, num, was)}
}

// carryCounter keeps both counts where the windows stay, and else what they are
// estimated to come to.
func carryCounter(from, to Algorithm, old, k *Counter, now int64) {
	if from.Promise().Rate.Per == to.Promise().Rate.Per {
		*k = *old
		return
	}
	unit := from.View(old, now).Unit
	k.Cur = (used(from, old, now) + unit - 1) / unit
}
