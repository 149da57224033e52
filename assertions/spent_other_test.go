//go:build !unix

package assertions

import "time"

var began = time.Now()

// busyTime is the time that passed, which is all that can be had everywhere.
func busyTime() time.Duration { return time.Since(began) }
