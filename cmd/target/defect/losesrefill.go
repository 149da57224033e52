package defect

import (
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func losesRefill() kind {
	return kind{
		Doc: mode.Doc{
			Name:    "loses-refill-on-refusal",
			Example: "loses-refill-on-refusal",
			Text:    "A refusal stores its moment but not the tokens earned until then, so a client that keeps asking is never admitted again.",
		},
		rows:  []string{"M-loses-refill"},
		stage: wraps,
		apply: func(p *Parts, r *mode.Reader) error {
			if err := r.Done(); err != nil {
				return err
			}
			if err := wantBucket("loses-refill-on-refusal", p.Algorithm); err != nil {
				return err
			}
			p.Algorithm = lossy{around{p.Algorithm}}
			return nil
		},
	}
}

// lossy is a token bucket that loses its refill on refusals. The decision is
// made on the right level and its wait is right at that moment: it turns into
// a lie only because the level that it starts from is not stored.
type lossy struct{ around }

func (l lossy) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*limiter.Bucket)
	level := k.Level
	d, err := l.Algorithm.Decide(s, now, cost)
	if err == nil && !d.Admitted {
		k.Level, d.After = level, level
	}
	return d, err
}
