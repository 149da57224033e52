package probes

import (
	"time"

	"golang.org/x/sys/unix"
)

func readClocks(clk clock) clocks {
	var t unix.Timespec
	for {
		before := time.Now()
		err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t)
		now := time.Now()
		if now.Sub(before) > time.Millisecond {
			continue // we were put aside between the readings, which would look like a jump
		}
		c := clocks{mono: int64(now.Sub(clk.start)), wall: now.UnixNano()}
		if err == nil {
			c.boot = t.Nano()
		}
		return c
	}
}
