// Package clock is a node's own clock: a monotonic time and a wall clock, apart
// from each other, that can be stepped, slewed and stopped without touching the
// machine's.
package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// Instant is one reading of a Clock. Its three figures belong together.
type Instant struct {
	Mono   int64 // nanoseconds since the clock's base; never goes back
	Wall   int64 // nanoseconds since 1970 on the wall clock
	Offset int64 // nanoseconds that the wall clock is ahead of where it would be if it had run like the monotonic one
}

// Since1970 is the wall clock as it would be if nobody had touched it:
// nanoseconds since 1970 that never go back. It is what a right limiter goes by,
// since windows may be aligned to the epoch.
func (i Instant) Since1970() int64 { return i.Wall - i.Offset }

// Clock tells monotonic and wall time: wall = base + monotonic + offset, where
// the offset is computed from the course that the clock has been set. So no timer
// has to fire, and virtual time works alike. It may be read and changed by
// several goroutines at once.
type Clock struct {
	base    time.Time
	since70 int64        // of the base, nanoseconds
	machine func() int64 // the machine's monotonic time: nanoseconds since the base
	course  atomic.Pointer[course]

	mu  sync.Mutex // of changes
	set settings
}

// New gives a clock whose wall time at monotonic 0 is that of base. machine tells
// the nanoseconds since base; nil means those of the machine's monotonic clock,
// for which base must come from time.Now.
//
// Corrections of the machine's own wall clock do not reach it.
func New(base time.Time, machine func() int64) *Clock {
	if machine == nil {
		machine = func() int64 { return int64(time.Since(base)) }
	}
	c := &Clock{base: base, since70: base.UnixNano(), machine: machine}
	c.set.rates = []rate{{}}
	c.course.Store(c.set.compiled())
	return c
}

// Base is the moment of monotonic 0. Made by time.Now, it maps readings to the
// other clocks of the same process, as long as the clock has no Rate of its own.
func (c *Clock) Base() time.Time { return c.base }

// Read takes one reading.
func (c *Clock) Read() Instant {
	mono := c.machine()
	k := c.course.Load()
	offset := k.offset
	if mono < k.calm {
		mono = k.mono(mono)
		offset = k.offsetAt(mono)
	}
	return Instant{Mono: mono, Wall: c.since70 + mono + offset, Offset: offset}
}

// Step moves the wall clock by d, which may be negative. It returns an error,
// and does nothing, if the clock would be more than 50 years off.
func (c *Clock) Step(d time.Duration) error { return c.Do(Event{Action: Step, By: d}) }

// Do changes the clock now, whatever the event's At. It returns an error, and
// does nothing, if the event makes no sense.
func (c *Clock) Do(e Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	machine := c.machine()
	mono := c.course.Load().mono(machine)
	e.At = time.Duration(mono)
	next, err := c.set.with(mono, e)
	if err != nil {
		return err
	}
	if e.Action == Rate {
		next.run(rate{machine: machine, at: mono, ppm: e.PPM})
	}
	c.set = next
	c.course.Store(next.compiled())
	return nil
}

// Schedule lets all events come at their moments, or none with an error. Those of
// moments that have passed count as if they had come then.
func (c *Clock) Schedule(events []Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	next, err := c.set.with(c.course.Load().mono(c.machine()), events...)
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.Action == Rate {
			next.rates = []rate{{ppm: e.PPM}}
		}
	}
	c.set = next
	c.course.Store(next.compiled())
	return nil
}
