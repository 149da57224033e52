package defect

import (
	"math/bits"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// rewound is a token bucket whose clock may go back. The naive one credits
// negative time as it comes: level += rate x (now - last), without a look at the
// sign. The level may go far below zero then, and nobody is admitted until it has
// come up again.
type rewound struct {
	around
	bucket
	form backward
}

func (w rewound) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*limiter.Bucket)
	if w.form == fails && now < k.Last {
		return limiter.Decision{}, &limiter.FaultError{Text: "time goes backwards"}
	}
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

// rewind goes back to an earlier moment; to a later one the bucket itself goes on.
func (w rewound) rewind(k *limiter.Bucket, now int64) {
	if now >= k.Last {
		return
	}
	switch w.form {
	case naive:
		k.Level = debit(k.Level, uint64(k.Last)-uint64(now), uint64(w.num))
	case floor:
		k.Level = max(0, debit(k.Level, uint64(k.Last)-uint64(now), uint64(w.num)))
	case drain:
		k.Level = 0
	}
	k.Last = now
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
