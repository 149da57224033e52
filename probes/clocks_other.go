//go:build !linux

package probes

import "time"

func readClocks(clk clock) clocks {
	now := time.Now()
	return clocks{mono: int64(now.Sub(clk.start)), wall: now.UnixNano()}
}
