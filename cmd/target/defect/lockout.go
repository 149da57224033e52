package defect

import (
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func lockout() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "lockout",
			Settings: "for=DURATION,extend=true|false",
			Example:  "lockout{for=3s}",
			Text:     "A refusal locks the key out for a time, whatever has been earned meanwhile; with extend each request during that time begins it anew.",
		},
		rows:  []string{"M-lockout"},
		stage: beside,
		apply: func(p *Parts, r *mode.Reader) error {
			length, extend := r.DurationOr("for", 3*time.Second), r.Bool("extend")
			r.Require(length > 0 && length <= maxStep, "for", "give more than 0 and at most a year")
			if err := r.Done(); err != nil {
				return err
			}
			p.Algorithm = locking{note[int64](p.Algorithm), length, extend}
			return nil
		},
	}
}

// locking is a limiter that refuses for a time after each of its refusals. Its
// note is when that ends, in nanoseconds. It tells the true wait.
type locking struct {
	noting[int64]
	length time.Duration
	extend bool
}

func (l locking) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*noted[int64])
	d, err := l.ask(k, now, cost)
	if err != nil || d.Admitted {
		return d, err
	}
	if now >= k.Note || l.extend {
		k.Note = now + int64(l.length)
	}
	d.Wait = max(d.Wait, time.Duration(k.Note-now))
	return d, nil
}

// ask asks the limiter, on a copy of its state if the key is locked out.
func (l locking) ask(k *noted[int64], now, cost int64) (limiter.Decision, error) {
	if now >= k.Note {
		return l.Algorithm.Decide(k.State, now, cost)
	}
	if d, err := l.Algorithm.Decide(k.State.Clone(), now, cost); err != nil {
		return d, err
	}
	return refusal(l.Algorithm, k.State, now), nil
}

func (l locking) Forgettable(s limiter.State, now int64) bool {
	return now >= s.(*noted[int64]).Note && l.noting.Forgettable(s, now)
}
