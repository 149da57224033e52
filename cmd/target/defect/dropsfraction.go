package defect

import (
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func dropsFraction() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "drops-fraction",
			Settings: "tick=DURATION",
			Example:  "drops-fraction{tick=1s}",
			Text:     "Time is credited in whole seconds, or other ticks, and the rest of it is forgotten at each request, so a client that asks more often than once a tick never gains anything.",
		},
		rows:  []string{"M-drops-fraction"},
		stage: wraps,
		apply: func(p *Parts, r *mode.Reader) error {
			tick := r.DurationOr("tick", time.Second)
			r.Require(tick > 1 && tick <= maxStep, "tick", "give more than a nanosecond and at most a year")
			if err := r.Done(); err != nil {
				return err
			}
			if err := wantBucket("drops-fraction", p.Algorithm); err != nil {
				return err
			}
			p.Algorithm = forgetful{around{p.Algorithm}, int64(tick)}
			return nil
		},
	}
}

// forgetful is a token bucket that loses what is less than a tick.
type forgetful struct {
	around
	tick int64 // nanoseconds
}

func (f forgetful) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*limiter.Bucket)
	last := k.Last
	f.drop(k, now)
	d, err := f.Algorithm.Decide(s, now, cost)
	if err != nil {
		k.Last = last
	}
	return d, err
}

func (f forgetful) View(s limiter.State, now int64) limiter.Decision {
	k := *s.(*limiter.Bucket)
	f.drop(&k, now)
	return f.Algorithm.View(&k, now)
}

// drop leaves whole ticks between the last moment and now.
func (f forgetful) drop(k *limiter.Bucket, now int64) {
	if now > k.Last {
		k.Last += (now - k.Last) % f.tick
	}
}

// Forgettable is that of the bucket as it would be seen now: full, it cannot
// lose anything.
func (f forgetful) Forgettable(s limiter.State, now int64) bool {
	k := *s.(*limiter.Bucket)
	f.drop(&k, now)
	return f.Algorithm.Forgettable(&k, now)
}
