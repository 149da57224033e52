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
	maxTimes = 1e9         // jumps of one, a century of three a second
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
	still  int64 // how long the wall clock has been frozen before
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

// running is the monotonic moment less the time that the wall clock has been frozen.
// Strobes go by it, or a clock that is frozen would not stand still.
func (s segment) running(mono int64) int64 {
	if s.frozen {
		mono = s.from
	}
	return mono - s.still
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

// strobe is a step to and fro: there after one period, back after the next.
type strobe struct {
	from, step, every, times int64 // from a running moment on
	until                    int64 // the monotonic moment that it is ended at
}

// at is where it has the clock.
func (s strobe) at(mono, running int64) int64 {
	n := (running - s.from) / s.every
	if running < s.from || n%2 == 0 || s.over(running) || mono >= s.until {
		return 0
	}
	return s.step
}

// over reports whether it has come back for the last time.
func (s strobe) over(running int64) bool { return (running-s.from)/s.every/2 >= s.times }

// offsetAt is the offset at a monotonic moment.
func (c *course) offsetAt(mono int64) int64 {
	i := len(c.segments) - 1
	for i > 0 && c.segments[i].from > mono {
		i--
	}
	running, strobed := c.segments[i].running(mono), int64(0)
	for _, s := range c.strobes {
		strobed = min(max(strobed+s.at(mono, running), -int64(maxOffset)), int64(maxOffset))
	}
	return c.segments[i].at(mono) + strobed
}

// settings are what the course is made of: where the clock was some time ago, and
// what has happened or will happen since.
type settings struct {
	past    segment
	strobes []strobe // that began before
	events  []Event  // in the order of time
	rates   []rate   // in the order of time, at least one
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
	segment, strobes := s.past, slices.Clone(s.strobes)
	for _, e := range s.events {
		segment = segment.after(e)
		if strobes = strobed(strobes, e, segment.running(int64(e.At))); len(strobes) > maxTerms {
			return s, fmt.Errorf("%v: %d strobes go on already", e, maxTerms)
		}
		if time.Duration(segment.offset).Abs() > maxOffset {
			return s, fmt.Errorf("%v: the wall clock would be more than 50 years off", e)
		}
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
	strobes := slices.Clone(s.strobes)
	for len(s.events) > 0 && int64(s.events[0].At) <= before {
		e := s.events[0]
		s.events, s.past = s.events[1:], s.past.after(e)
		strobes = strobed(strobes, e, s.past.running(int64(e.At)))
	}
	s.strobes = still(strobes, s.past.running(before))
}

// strobed are the strobes that go on after an event at a running moment.
func strobed(all []strobe, e Event, running int64) []strobe {
	switch e.Action {
	case Strobe:
		return append(still(all, running), e.strobe(running))
	case StrobeOff:
		return nil
	}
	return all
}

// still leaves out strobes that are over.
func still(all []strobe, running int64) []strobe {
	return slices.DeleteFunc(all, func(s strobe) bool { return s.over(running) })
}

// after is the segment that an event begins.
func (s segment) after(e Event) segment {
	next := s
	next.from, next.offset = int64(e.At), s.at(int64(e.At))
	next.still = next.from - s.running(next.from)
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
	c := &course{rates: s.rates, segments: []segment{s.past}, strobes: slices.Clone(s.strobes), calm: math.MaxInt64}
	last := s.past
	for _, e := range s.events {
		switch e.Action {
		case Strobe:
			c.strobes = append(c.strobes, e.strobe(last.running(int64(e.At))))
			continue
		case StrobeOff:
			for i := range c.strobes {
				c.strobes[i].until = min(c.strobes[i].until, int64(e.At))
			}
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
