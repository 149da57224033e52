package defect

import (
	"math/bits"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

// maxStep is far more than any clock is stepped by in earnest.
const maxStep = 365 * 24 * time.Hour

func wallClock() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "wall-clock",
			Settings: "step=DURATION,every=DURATION",
			Example:  "wall-clock{step=-10s,every=30s}",
			Text:     "Time is taken from the wall clock, which steps by itself if settings are given: a step back takes tokens from every key, a step forward hands out tokens that no time has earned.",
		},
		stage: wraps,
		apply: func(p *Parts, r *mode.Reader) error {
			step, every := r.DurationOr("step", 0), r.DurationOr("every", 0)
			r.Require(r.Has("step") == r.Has("every"), "step", "and every go together, give both or neither")
			r.Require(!r.Has("step") || step != 0 && step.Abs() <= maxStep, "step", "give a duration other than 0, of at most a year either way")
			r.Require(!r.Has("every") || every > 0, "every", "give a duration above 0")
			if err := r.Done(); err != nil {
				return err
			}
			if err := wantBucket("wall-clock", p.Algorithm); err != nil {
				return err
			}
			p.Clock.Strobe(step, every)
			p.Now = func(i clock.Instant) int64 { return i.Wall }
			p.Algorithm = rewound{p.Algorithm}
			return nil
		},
	}
}

// rewound is a token bucket that credits negative time as it comes: level +=
// rate x (now - last), without a look at the sign. The level may go far below
// zero, and then nobody is admitted until it has come up again.
type rewound struct{ limiter.Algorithm }

func (w rewound) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*limiter.Bucket)
	was := *k
	w.rewind(k, now)
	d, err := w.Algorithm.Decide(s, now, cost)
	if err != nil {
		*k = was
	}
	return d, err
}

func (w rewound) View(s limiter.State, now int64) limiter.Decision {
	k := *s.(*limiter.Bucket)
	w.rewind(&k, now)
	return w.Algorithm.View(&k, now)
}

// rewind credits the time since the last decision if it is negative; the bucket
// itself credits the rest.
func (w rewound) rewind(k *limiter.Bucket, now int64) {
	if now < k.Last {
		num, _ := w.Promise().Rate.Units()
		k.Level = debit(k.Level, uint64(k.Last)-uint64(now), uint64(num))
		k.Last = now
	}
}

// debit takes num units a nanosecond from the level, down to -MaxLevel.
func debit(level int64, elapsed, num uint64) int64 {
	hi, loss := bits.Mul64(elapsed, num)
	if hi > 0 || loss > uint64(level+limiter.MaxLevel) {
		return -limiter.MaxLevel
	}
	return level - int64(loss)
}

// Forgettable is never true, so a server with this defect keeps every key. The
// next step back would hit a full bucket that was kept, and would spare the
// fresh one that takes the place of a forgotten one.
func (w rewound) Forgettable(limiter.State, int64) bool { return false }
