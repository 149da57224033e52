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
}

// even measures arrivals against a rate in requests a second.
func even(at []int64, rate float64) (e evenness) {
	if len(at) < 2 {
		return e
	}
	gap := 1e9 / rate
	late := make([]float64, len(at))
	for i, t := range at {
		late[i] = float64(t-at[0]) - float64(i)*gap
	}
	least := slices.Min(late)
	// Of (j-i+1) - r(tj-ti) the largest: lowest is the least of -i + r ti so far.
	highest := 0.0
	for i := range late {
		x := late[i] / gap // r ti - i
		highest = max(highest, x)
		e.burst = max(e.burst, highest-x+1)
	}
	for i := range late {
		late[i] -= least
	}
	slices.Sort(late)
	e.p50, e.p99 = time.Duration(late[len(late)/2]), time.Duration(late[len(late)*99/100])
	e.achieved = float64(len(at)-1) / (float64(at[len(at)-1]-at[0]) / 1e9)
	return e
}

// median is the middle one.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}
