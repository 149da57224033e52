package probes

import (
	"context"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

const (
	beatEvery = 10 * time.Millisecond
	stallFrom = 100 * time.Millisecond // a beat that comes this much late is a stall of ours
	jumpFrom  = 50 * time.Millisecond  // a difference of two clocks that grows by this much is a jump
	sleepFrom = 5 * time.Millisecond
)

// watch beats while the run lasts and records when hammer itself did not run,
// when the machine was suspended, and when its wall clock jumped. A suspended
// machine's monotonic clock stands still while the server's goes on: without
// the mark, an honest limiter would seem to admit too much.
func watch(ctx context.Context, clk clock, rec *recorder) {
	last := readClocks(clk)
	rec.vouch(last.mono)
	flushed := last.mono
	for ctx.Err() == nil {
		time.Sleep(beatEvery)
		now := readClocks(clk)
		for _, m := range compare(last, now) {
			rec.mark(m)
		}
		rec.vouch(now.mono)
		last = now
		if now.mono-flushed >= int64(blockEvery) {
			rec.flush()
			flushed = now.mono
		}
	}
}

// clocks are the client's clocks at one moment, in nanoseconds.
type clocks struct {
	mono int64 // since the run's start; it stands still while the machine is suspended, where the system has it so
	wall int64 // since 1970
	boot int64 // a monotonic clock that counts suspension; 0: the system has none
}

// compare gives the marks for what happened between two beats.
func compare(a, b clocks) []results.Mark {
	var marks []results.Mark
	passed := b.mono - a.mono
	add := func(kind results.MarkKind, size int64) {
		marks = append(marks, results.Mark{At: a.mono, To: b.mono, Kind: kind, Size: size})
	}
	if late := passed - int64(beatEvery); late >= int64(stallFrom) {
		add(results.MarkStall, late)
	}
	slept := int64(0)
	if a.boot != 0 && b.boot != 0 {
		slept = b.boot - a.boot - passed
	}
	if slept >= int64(sleepFrom) {
		add(results.MarkSleep, slept)
	}
	if jump := b.wall - a.wall - passed - max(slept, 0); jump >= int64(jumpFrom) || -jump >= int64(jumpFrom) {
		add(results.MarkWall, jump)
	}
	return marks
}
