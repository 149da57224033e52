// Package vdso moves the wall clock of a running process on Linux, and of no
// other. Programs ask the vDSO for the time, a small library that the kernel maps
// into each of them. Its functions are made to jump to a routine of ours, in the
// process's own copy of it, which shows another wall clock and leaves the
// monotonic clock as it is; afterwards the bytes are as they were.
//
// A program that makes the system call itself is not reached. That is seen by watching
// its system calls for a while.
package vdso

import (
	"fmt"
	"time"
)

// Course is how a wall clock runs: At on the monotonic clock it shows Wall, and from
// there on it runs faster than that by PPM millionths. At -1,000,000 it stands still.
type Course struct {
	At   int64 // nanoseconds on the system's CLOCK_MONOTONIC
	Wall int64 // nanoseconds since 1970
	PPM  int64
}

// Reads is what the clock shows at a moment of CLOCK_MONOTONIC, in nanoseconds since 1970.
func (c Course) Reads(mono int64) int64 {
	d := mono - c.At
	const million = 1_000_000
	return c.Wall + d + d/million*c.PPM + d%million*c.PPM/million
}

// Stepped is the course with a jump at a moment.
func (c Course) Stepped(mono int64, by time.Duration) Course {
	return Course{mono, c.Reads(mono) + int64(by), c.PPM}
}

// Slewed is the course from a moment on which it runs at another speed.
func (c Course) Slewed(mono, ppm int64) Course { return Course{mono, c.Reads(mono), ppm} }

// Frozen is the speed of a clock that stands still.
const Frozen = -1_000_000

// Original is what was overwritten in a process, so that somebody else can write it
// back when we cannot.
type Original struct {
	PID     int     `json:"pid"`
	Started string  `json:"started"` // as the kernel counts it, so that another process of the same number is left alone
	Patches []Patch `json:"patches"` // in the order in which they are written back
}

// Patch is a run of bytes at an address.
type Patch struct {
	At    uint64 `json:"at"`
	Bytes []byte `json:"bytes"`
}

// Ended is the error of a process that is no more.
type Ended struct{ PID int }

func (e *Ended) Error() string { return fmt.Sprintf("process %d has ended", e.PID) }

// Seen is what processes were seen to ask for while their system calls were watched.
type Seen struct {
	Shown int `json:"shown"` // how often they had the time from a clock of ours
	Raw   int `json:"raw"`   // how often they asked the kernel itself for the wall clock, and had the system's
	Calls int `json:"calls"` // system calls of all kinds; 0: they did nothing at all
}
