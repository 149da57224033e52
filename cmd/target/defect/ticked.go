package defect

import (
	"math/bits"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// ticked is a token bucket that a timer refills: so much at the end of each
// period, and nothing in between. The timer of a key begins with the request that
// finds it full, so that a full key is as a fresh one.
type ticked struct {
	around
	bucket
	period int64 // nanoseconds
	gain   int64 // units that come with each
}

func (t ticked) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*limiter.Bucket)
	t.credit(k, now)
	d, err := t.Algorithm.Decide(k, k.Last, cost) // at a moment at which nothing is gained
	if err == nil && !d.Admitted && t.gain > 0 {
		ticks := (cost*t.unit - k.Level + t.gain - 1) / t.gain
		d.Wait = time.Duration(k.Last + ticks*t.period - now)
	}
	return d, err
}

func (t ticked) View(s limiter.State, now int64) limiter.Decision {
	k := *s.(*limiter.Bucket)
	t.credit(&k, now)
	return t.Algorithm.View(&k, k.Last)
}

// credit adds what the timer has brought since the last time that it was seen to
// fire.
func (t ticked) credit(k *limiter.Bucket, now int64) {
	if now > k.Last {
		ticks := (uint64(now) - uint64(k.Last)) / uint64(t.period)
		if hi, gain := bits.Mul64(ticks, uint64(t.gain)); hi > 0 || gain >= uint64(t.full-k.Level) {
			k.Level = t.full
		} else {
			k.Level += int64(gain)
		}
		k.Last += int64(ticks) * t.period
		if k.Level == t.full {
			k.Last = now
		}
	}
}

// Forgettable reports whether the bucket is full.
func (t ticked) Forgettable(s limiter.State, now int64) bool {
	k := *s.(*limiter.Bucket)
	t.credit(&k, now)
	return k.Level == t.full && now >= k.Last
}
