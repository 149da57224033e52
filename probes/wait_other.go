//go:build !linux

package probes

import "time"

// newSleeper is for the goroutine that calls it. Sleeps of the Go runtime end
// up to a millisecond late here, so that much is spun through.
func newSleeper() *sleeper {
	return &sleeper{margin: time.Millisecond, most: 2 * time.Millisecond}
}

func pause(d time.Duration) { time.Sleep(d) }
