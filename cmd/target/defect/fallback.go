package defect

import (
	"fmt"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func fallbackSwap() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "fallback",
			Settings: "burst=TOKENS,rate=TOKENS/TIME",
			Example:  "fallback{burst=100,rate=100/s}",
			Text:     "Each refusal is taken for a failure of the store, and a looser token bucket that is kept for that case answers instead.",
		},
		rows:    []string{"D26"},
		stage:   beside,
		on:      On{Limit: "token-bucket{burst=2,rate=2/s}"},
		reports: []string{"animir/node-rate-limiter-flexible issue 337"},
		apply: func(p *Parts, r *mode.Reader) error {
			burst, rate := r.Int("burst"), r.Rate("rate")
			if err := r.Done(); err != nil {
				return err
			}
			if _, holds := deciding(p.Algorithm).(limiter.Releaser); holds {
				return fmt.Errorf("fallback: nothing takes the place of a %s limit, which would be given back what it has not given", p.Algorithm.Promise().Contract)
			}
			looser, err := limiter.NewTokenBucket(burst, rate)
			if err != nil {
				return fmt.Errorf("fallback: %w", err)
			}
			p.Algorithm = swapped{p.Algorithm, looser}
			return nil
		},
	}
}

// swapped asks another limiter where the first one refuses. The other one is kept
// up to date: it is charged for all that is admitted.
type swapped struct {
	limiter.Algorithm
	instead limiter.Algorithm
}

// both is what two limiters remember of one key.
type both struct{ first, second limiter.State }

func (b *both) Clone() limiter.State { return &both{b.first.Clone(), b.second.Clone()} }

func (w swapped) Fresh(now int64) limiter.State {
	return &both{w.Algorithm.Fresh(now), w.instead.Fresh(now)}
}

func (w swapped) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*both)
	d, err := w.Algorithm.Decide(k.first, now, cost)
	if err != nil {
		return d, err
	}
	// A cost that is too much for the second is no answer of it.
	other, err := w.instead.Decide(k.second, now, cost)
	if err == nil && other.Admitted && !d.Admitted {
		other.Limit = d.Limit
		other.Remaining = min(other.Remaining, other.Limit)
		return other, nil
	}
	return d, nil
}

func (w swapped) View(s limiter.State, now int64) limiter.Decision {
	return w.Algorithm.View(s.(*both).first, now)
}

func (w swapped) Forgettable(s limiter.State, now int64) bool {
	k := s.(*both)
	return w.Algorithm.Forgettable(k.first, now) && w.instead.Forgettable(k.second, now)
}
