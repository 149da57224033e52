//go:build !linux

package vdso

import "errors"

var errElsewhere = errors.New("the wall clock of a running process can be moved on Linux alone")

// Clock is there on Linux alone.
type Clock struct{}

// Take is an error elsewhere than on Linux.
func Take(int, func(Original) error) (*Clock, error) { return nil, errElsewhere }

// Reachable is an error.
func Reachable(int) error { return errElsewhere }

// Watch is an error.
func Watch([]*Clock) (*Watching, error) { return nil, errElsewhere }

// Watching is there on Linux alone.
type Watching struct{}

// End has seen nothing.
func (*Watching) End() (Seen, error) { return Seen{}, errElsewhere }

// RestoreCopy finds nothing.
func (*Clock) RestoreCopy(int) (bool, error) { return false, nil }

// PID is 0.
func (*Clock) PID() int { return 0 }

// Course is none.
func (*Clock) Course() Course { return Course{} }

// Set is an error.
func (*Clock) Set(Course) error { return errElsewhere }

// Release does nothing.
func (*Clock) Release() error { return nil }

// Restore is an error.
func Restore(Original) error { return errElsewhere }

// Mono is 0.
func Mono() int64 { return 0 }
