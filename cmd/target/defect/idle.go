package defect

import (
	"math/bits"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func idle() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "idle",
			Settings: "form=uncapped|overflow,after=DURATION",
			Example:  "idle{form=uncapped}",
			Text:     "A long rest is paid out in full, beyond what the bucket holds (uncapped), or overflows into a negative number as soon as it has lasted for after, so the bucket is taken for empty (overflow).",
		},
		rows:    []string{"D11"},
		stage:   wraps,
		on:      On{Limit: "token-bucket{burst=5,rate=2/s}"},
		reports: []string{"bucket4j issue 51"},
		apply: func(p *Parts, r *mode.Reader) error {
			form, after := r.Choice("form", "", "uncapped", "overflow"), r.DurationOr("after", 12*time.Hour)
			r.Require(form == "overflow" || !r.Has("after"), "after", "goes with form=overflow")
			r.Require(after > 0 && after <= maxStep, "after", "give more than 0 and at most a year")
			if err := r.Done(); err != nil {
				return err
			}
			b, err := bucketOf("idle", p.Algorithm)
			if err != nil {
				return err
			}
			if form == "uncapped" {
				p.Algorithm = uncapped{around{p.Algorithm}, b}
			} else {
				p.Algorithm = overflowing{around{p.Algorithm}, int64(after)}
			}
			return nil
		},
	}
}

// uncapped is a token bucket without a rim. Clients are told no more than it
// would hold with one.
type uncapped struct {
	around
	bucket
}

func (u uncapped) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*limiter.Bucket)
	was := *k
	u.refill(k, now)
	d, err := u.Algorithm.Decide(s, now, cost)
	if err != nil {
		*k = was
	}
	return u.told(d), err
}

func (u uncapped) View(s limiter.State, now int64) limiter.Decision {
	k := *s.(*limiter.Bucket)
	u.refill(&k, now)
	return u.told(u.Algorithm.View(&k, now))
}

func (u uncapped) refill(k *limiter.Bucket, now int64) {
	if now <= k.Last {
		return
	}
	hi, gain := bits.Mul64(uint64(since(k.Last, now)), uint64(u.num))
	if hi > 0 || gain > uint64(limiter.MaxLevel-k.Level) {
		k.Level = limiter.MaxLevel
	} else {
		k.Level += int64(gain)
	}
	k.Last = now
}

func (u uncapped) told(d limiter.Decision) limiter.Decision {
	d.Remaining = min(d.Remaining, d.Limit)
	d.Reset = max(0, d.Reset)
	return d
}

// Forgettable is never true: what lies above the rim would be lost.
func (u uncapped) Forgettable(limiter.State, int64) bool { return false }

// overflowing is a token bucket whose product of rest and rate is a signed number
// that overflows when the rest has lasted for after: it is negative up to twice
// that, then starts from 0 again.
type overflowing struct {
	around
	after int64 // nanoseconds
}

func (o overflowing) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*limiter.Bucket)
	was := *k
	o.wrap(k, now)
	d, err := o.Algorithm.Decide(s, now, cost)
	if err != nil {
		*k = was
	}
	return d, err
}

func (o overflowing) View(s limiter.State, now int64) limiter.Decision {
	k := *s.(*limiter.Bucket)
	o.wrap(&k, now)
	return o.Algorithm.View(&k, now)
}

// wrap leaves as much time to be credited as the product tells, and empties the
// bucket if that is negative.
func (o overflowing) wrap(k *limiter.Bucket, now int64) {
	if now <= k.Last || now-k.Last < o.after {
		return
	}
	rest := (now - k.Last) % (2 * o.after)
	if rest >= o.after {
		k.Level, k.Last = 0, now
	} else {
		k.Last = now - rest
	}
}

// Forgettable is never true: a fresh key is full after any rest.
func (o overflowing) Forgettable(limiter.State, int64) bool { return false }

// since is the time from one moment to a later one, at most that of 63 bits.
func since(from, to int64) time.Duration {
	return time.Duration(min(uint64(to)-uint64(from), 1<<63-1))
}
