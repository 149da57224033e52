package fields

import (
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"time"
)

// Unit is how a moment is written.
type Unit uint8

// The units. The zero value says that there is no moment.
const (
	Absent     Unit = iota
	Unreadable      // it means nothing that is known
	Seconds         // so many from the answer on, whole or with a fraction
	Millis          // so many from the answer on
	Span            // a length of time with its units, such as 6m0s
	Epoch           // seconds since 1970, whole or with a fraction
	EpochMS         // milliseconds since 1970
	HTTPDate        // as in Date
	RFC3339         // such as 2026-03-01T12:00:00Z
)

var unitNames = [...]string{"absent", "unreadable", "seconds", "milliseconds", "a length of time", "seconds since 1970", "milliseconds since 1970", "an HTTP-date", "an RFC 3339 date"}

func (u Unit) String() string { return unitNames[u] }

// Clocked reports whether it is a moment on the server's wall clock.
func (u Unit) Clocked() bool { return u >= Epoch }

// Moment is when something is told to happen.
type Moment struct {
	Field string        // that tells it, in lower case
	Text  string        // its value as it is
	Unit  Unit          //
	Known bool          // whether Wait is: a moment on the server's clock needs the answer's Date beside it
	Wait  time.Duration // from when the answer was received; below 0: it lies in the past
	Grain time.Duration // that rounding alone may have added to the truth
	Guess string        // how the number was taken, where nothing says what it counts; empty: nothing was guessed
	Other string        // what else it may have meant; empty: nothing
}

// longest is the longest time that is read: a hundred years.
const longest = 100 * 365 * 24 * time.Hour

// Bounds between numbers of which nobody says what they count. A client need not
// wait 31 years, and seconds since 1970 have ten digits until 2286.
const (
	leastEpoch   = 1_000_000_000
	leastEpochMS = 1_000_000_000_000
	pastEpoch    = 100_000_000_000
	pastEpochMS  = 100_000_000_000_000
)

// dateGrain is what a Date may be older than the moment at which the answer was
// decided: it is cut to whole seconds, and servers keep its text for up to one.
const dateGrain = 2 * time.Second

// moment reads when a limit is told to be reset. standard: the dialect says that
// it counts seconds.
func moment(field, text, date string, standard bool) Moment {
	m := Moment{Field: field, Text: text, Unit: Unreadable}
	if isInteger(text) || isDecimal(text) {
		return m.number(date, standard)
	}
	if d, err := time.ParseDuration(text); err == nil {
		m.Unit, m.Known, m.Wait, m.Grain = Span, true, clamp(d), spanGrain(text)
		return m
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		m.Unit = RFC3339
		return m.against(at, date, time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		m.Unit = HTTPDate
		return m.against(at, date, time.Second)
	}
	if at, err := time.Parse(time.RFC1123, text); err == nil && at.Location() == time.UTC {
		m.Unit, m.Guess = HTTPDate, "an HTTP-date, although those end in GMT"
		return m.against(at, date, time.Second)
	}
	return m
}

// number reads a moment that is nothing but a number.
func (m Moment) number(date string, standard bool) Moment {
	n, ok := new(big.Rat).SetString(m.Text)
	if !ok || len(m.Text) > 40 {
		return m
	}
	digits := int64(1)
	if _, fraction, found := strings.Cut(m.Text, "."); found {
		for range min(len(fraction), 9) {
			digits *= 10
		}
	}
	step := time.Second / time.Duration(digits)
	size := func(x int64) bool { return new(big.Rat).Abs(n).Cmp(big.NewRat(x, 1)) >= 0 }
	switch {
	case !size(leastEpoch) || n.Sign() < 0: // before 1970 there were no answers
		m.Unit, m.Known, m.Wait, m.Grain = Seconds, true, nanos(n, int64(time.Second)), step
		if !standard {
			m.Guess, m.Other = "seconds from now", fmt.Sprintf("milliseconds: %v", nanos(n, int64(time.Millisecond)))
		}
		return m
	case size(pastEpoch) && !size(leastEpochMS) || size(pastEpochMS):
		return m
	case size(leastEpochMS):
		m.Unit, m.Guess = EpochMS, "milliseconds since 1970"
		return m.against(since1970(n, int64(time.Millisecond)), date, time.Millisecond)
	}
	m.Unit = Epoch
	m.Guess, m.Other = "seconds since 1970", fmt.Sprintf("seconds from now: %v years", new(big.Int).Quo(whole(n), big.NewInt(365*24*3600)))
	return m.against(since1970(n, int64(time.Second)), date, step)
}

// against takes a moment on the server's clock against the answer's own Date, as
// both are on the same clock. The client's is another.
func (m Moment) against(at time.Time, date string, step time.Duration) Moment {
	now, err := http.ParseTime(date)
	if err != nil {
		return m
	}
	m.Known, m.Wait, m.Grain = true, clamp(at.Sub(now)), step+dateGrain
	return m
}

// spanGrain is the smallest unit in a length of time.
func spanGrain(text string) time.Duration {
	switch {
	case strings.HasSuffix(text, "ns"):
		return time.Nanosecond
	case strings.HasSuffix(text, "us"), strings.HasSuffix(text, "µs"):
		return time.Microsecond
	case strings.HasSuffix(text, "ms"):
		return time.Millisecond
	}
	return time.Second
}

func clamp(d time.Duration) time.Duration { return min(max(d, -longest), longest) }

func whole(n *big.Rat) *big.Int { return new(big.Int).Quo(n.Num(), n.Denom()) }

// nanos is a number of units of so many nanoseconds.
func nanos(n *big.Rat, unit int64) time.Duration {
	v := whole(new(big.Rat).Mul(n, big.NewRat(unit, 1)))
	if !v.IsInt64() {
		if v.Sign() < 0 {
			return -longest
		}
		return longest
	}
	return clamp(time.Duration(v.Int64()))
}

// since1970 is a moment that is a number of units of so many nanoseconds.
func since1970(n *big.Rat, unit int64) time.Time {
	v := whole(new(big.Rat).Mul(n, big.NewRat(unit, 1)))
	seconds, rest := new(big.Int).DivMod(v, big.NewInt(int64(time.Second)), new(big.Int))
	return time.Unix(seconds.Int64(), rest.Int64())
}
