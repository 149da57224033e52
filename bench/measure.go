//go:build linux

package main

import (
	"slices"
	"time"
)

// evenness is how well arrivals keep a rate.
type evenness struct {
	p50, p99 time.Duration // how long after its moment a request came; the moments are evenly spaced, and as late as they can be without one that came early
	burst    float64       // smallest bucket that, refilled at the rate, admits them all
	achieved float64       // requests a second
	own      time.Duration // the 99th percentile that hammer itself reports
}

// even measures arrivals against a rate in requests a second. What hammer says tells
// which moments were left out, and by how much its own lateness is wrong; nil: none were.
func even(at []int64, rate float64, told []said) (e evenness) {
	if len(at) < 2 {
		return e
	}
	gap := 1e9 / rate
	// Of (j-i+1) - r(tj-ti) the largest: highest is the most of r ti - i so far.
	highest := 0.0
	for i, t := range at {
		x := float64(t-at[0])/gap - float64(i)
		highest = max(highest, x)
		e.burst = max(e.burst, highest-x+1)
	}
	late := make([]float64, len(at))
	for i, t := range at {
		late[i] = float64(t-at[0]) - float64(i)*gap
		if len(told) == len(at) {
			late[i] = float64(t-at[0]) - float64(told[i].Planned-told[0].Planned)
		}
	}
	least := slices.Min(late)
	for i := range late {
		late[i] -= least
	}
	slices.Sort(late)
	e.own = ownAt(told, 99)
	e.p50, e.p99 = time.Duration(late[len(late)/2]), time.Duration(late[len(late)*99/100])
	e.achieved = float64(len(at)-1) / (float64(at[len(at)-1]-at[0]) / 1e9)
	return e
}

// ownAt is how late hammer says that its requests were, at a percentile.
func ownAt(told []said, percent int) time.Duration {
	if len(told) == 0 {
		return 0
	}
	late := make([]int64, len(told))
	for i, s := range told {
		late[i] = s.Sent - s.Planned
	}
	slices.Sort(late)
	return time.Duration(late[len(late)*percent/100])
}

// median is the middle one.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}
