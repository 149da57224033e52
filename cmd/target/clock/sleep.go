package clock

import (
	"context"
	"time"
)

type sleeperKey struct{}

// WithSleeper gives a context in which Sleep waits as sleep does, which has to
// return when d is over. It is how a server runs in virtual time.
func WithSleeper(ctx context.Context, sleep func(d time.Duration)) context.Context {
	return context.WithValue(ctx, sleeperKey{}, sleep)
}

// Sleep waits for d, or until ctx is done.
func Sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	if sleep, ok := ctx.Value(sleeperKey{}).(func(time.Duration)); ok {
		sleep(d)
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
