package probes

import (
	"time"

	"golang.org/x/sys/unix"
)

// newSleeper is for the goroutine that calls it, which must be locked to its
// thread: the kernel is asked to end this thread's sleeps without slack.
func newSleeper() *sleeper {
	// Without it sleeps end 50 us later on average, which costs nothing but spinning.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	return &sleeper{margin: 100 * time.Microsecond, most: 300 * time.Microsecond}
}

// pause sleeps in the kernel. An interrupted sleep, as the Go runtime's
// preemption signal causes, is shorter; the caller looks at the clock anyway.
func pause(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &t, nil)
}
