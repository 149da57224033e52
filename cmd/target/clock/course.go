package clock

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// maxOffset bounds each of the two ways in which the wall clock is moved, by
// events and by strobes. Both together, a date of this century and a century of
// running stay within the 292 years that 64 bits of nanoseconds hold.
const maxOffset = 50 * 365 * 24 * time.Hour

const (
	million  = 1_000_000
	maxSlew  = million / 2 // ppm: the wall clock runs at half to one and a half times the speed
	maxRate  = 1000        // ppm: far more than two oscillators differ by
	maxTerms = 64          // strobes that go on at the same time
	keepPast = int64(time.Minute)
)

// course says how a clock runs. It is never changed, only replaced.
type course struct {
	calm     int64 // from this moment of the machine's on, the monotonic clock is the machine's and the offset is this one
	offset   int64
	rates    []rate    // in the order of time; the first holds for all time before the second
	segments []segment // likewise
	strobes  []strobe
}

// segment is a part of the course in which the offset is a line.
type segment struct {
	from   int64 // monotonic
	offset int64 // there
	slew   int64 // ppm that the wall clock gains on the monotonic one
	frozen bool  // the wall clock stands still, whatever the slew
}

// at is the offset at a monotonic moment.
func (s segment) at(mono int64) int64 {
	ppm := s.slew
	if s.frozen {
		ppm = -million
	}
	return s.offset + parts(mono-s.from, ppm)
}

// parts is so many millionths of n. Nanoseconds of a century times half a million
// would not go into 64 bits, millionths of them times a million do.
func parts(n, ppm int64) int64 { return n/million*ppm + n%million*ppm/million }

// rate is how the monotonic clock runs against the machine's.
type rate struct {
	machine, at int64 // two moments that are the same one
	ppm         int64 // gained on the machine's since then
}

// mono is the monotonic clock at a moment of the machine's.
func (c *course) mono(machine int64) int64 {
	i := len(c.rates) - 1
	for i > 0 && c.rates[i].machine > machine {
		i--
	}
	r := c.rates[i]
	d := machine - r.machine
	return r.at + d + parts(d, r.ppm)
}

// strobe is a step that is repeated.
type strobe struct {
	from, step, every, times int64
}

// sum is what it has come to at a moment.
func (s strobe) sum(mono int64) int64 {
	if s.every <= 0 || s.step == 0 || mono < s.from {
		return 0
	}
	return min((mono-s.from)/s.every, s.times, int64(maxOffset/time.Duration(s.step).Abs())) * s.step
}

// over reports whether it will not step any more.
func (s strobe) over(mono int64) bool {
	return s.step == 0 || s.times != math.MaxInt64 && (mono-s.from)/s.every >= s.times
}

// offsetAt is the offset at a monotonic moment.
func (c *course) offsetAt(mono int64) int64 {
	i := len(c.segments) - 1
	for i > 0 && c.segments[i].from > mono {
		i--
	}
	strobed := int64(0)
	for _, s := range c.strobes {
		strobed = min(max(strobed+s.sum(mono), -int64(maxOffset)), int64(maxOffset))
	}
	return c.segments[i].at(mono) + strobed
}

// settings are what the course is made of: where the clock was some time ago, and
// what has happened or will happen since.
type settings struct {
	past   segment
	events []Event // in the order of time
	rates  []rate  // in the order of time, at least one
	own    strobe  // of a defect; every 0: none
}

// with are the settings with other events beside those there are. now is a
// moment before which nobody reads any more, but for a minute.
func (s settings) with(now int64, more ...Event) (settings, error) {
	for _, e := range more {
		if err := e.check(); err != nil {
			return s, err
		}
	}
	s.events = append(slices.Clone(s.events), more...)
	slices.SortStableFunc(s.events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	s.forget(now - keepPast)
	segment, strobes := s.past, 0
	for _, e := range s.events {
		if e.Action == Strobe {
			strobes++
		}
		segment = segment.after(e)
		if time.Duration(segment.offset).Abs() > maxOffset {
			return s, fmt.Errorf("%v: the wall clock would be more than 50 years off", e)
		}
	}
	if strobes > maxTerms {
		return s, fmt.Errorf("%v: %d strobes go on already", more[len(more)-1], maxTerms)
	}
	return s, nil
}

// run lets the monotonic clock go on at another rate from a moment of the machine's,
// and forgets rates that were over a minute before.
func (s *settings) run(r rate) {
	s.rates = append(slices.Clone(s.rates), r)
	for len(s.rates) > 2 && s.rates[1].machine < r.machine-keepPast {
		s.rates = s.rates[1:]
	}
}

// forget puts events together that were over at a moment.
func (s *settings) forget(before int64) {
	s.events = slices.DeleteFunc(s.events, func(e Event) bool {
		if int64(e.At) > before || e.Action == Strobe && !e.strobe().over(before) {
			return false
		}
		if e.Action == Strobe {
			s.past.offset += e.strobe().sum(before)
		} else {
			s.past = s.past.after(e)
		}
		return true
	})
}

// after is the segment that an event begins.
func (s segment) after(e Event) segment {
	next := s
	next.from, next.offset = int64(e.At), s.at(int64(e.At))
	switch e.Action {
	case Step:
		next.offset += int64(e.By)
	case Slew:
		next.slew = e.PPM
	case Freeze:
		next.frozen = true
	case Resume:
		next.frozen = false
	}
	return next
}

func (s settings) compiled() *course {
	c := &course{rates: s.rates, segments: []segment{s.past}, calm: math.MaxInt64}
	if s.own.every > 0 && s.own.step != 0 {
		c.strobes = append(c.strobes, s.own)
	}
	last := s.past
	for _, e := range s.events {
		if e.Action == Strobe {
			c.strobes = append(c.strobes, e.strobe())
			continue
		}
		if next := last.after(e); next != last {
			last = next
			c.segments = append(c.segments, last)
		}
	}
	if len(c.strobes) == 0 && len(s.rates) == 1 && s.rates[0] == (rate{}) && last.slew == 0 && !last.frozen {
		c.calm, c.offset = last.from, last.offset
	}
	return c
}
