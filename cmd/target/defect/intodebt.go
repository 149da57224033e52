package defect

import (
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func intoDebt() kind {
	return kind{
		Doc: mode.Doc{
			Name:    "into-debt",
			Example: "into-debt",
			Text:    "A request is admitted while anything is left, a part of a token too, and what is missing is owed.",
		},
		rows:  []string{"M-into-debt"},
		stage: wraps,
		apply: func(p *Parts, r *mode.Reader) error {
			if err := r.Done(); err != nil {
				return err
			}
			b, err := bucketOf("into-debt", p.Algorithm)
			if err != nil {
				return err
			}
			p.Algorithm = owing{around{p.Algorithm}, b}
			return nil
		},
	}
}

// owing is a token bucket that lends what is missing.
type owing struct {
	around
	bucket
}

func (o owing) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	d, err := o.Algorithm.Decide(s, now, cost)
	if err != nil || d.Admitted || d.Before <= 0 {
		return d, err
	}
	k := s.(*limiter.Bucket)
	k.Level -= cost * o.unit
	lent := o.Algorithm.View(s, now)
	lent.Admitted, lent.Before = true, d.Before
	return lent, nil
}
