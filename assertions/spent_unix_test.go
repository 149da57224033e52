//go:build unix

package assertions

import (
	"syscall"
	"time"
)

// busyTime is how long processors have worked for this program. Beside others
// that work as well it tells more than the time that passed.
func busyTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
