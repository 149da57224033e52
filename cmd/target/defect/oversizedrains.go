package defect

import (
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func oversizeDrains() kind {
	return kind{
		Doc: mode.Doc{
			Name:    "oversize-drains",
			Example: "oversize-drains",
			Text:    "A request that costs more than is left is refused and takes what is left all the same.",
		},
		rows:    []string{"D34"},
		on:      On{CostHeader: "X-Cost"},
		reports: []string{"upstash/ratelimit-js PR 161"},
		stage:   wraps,
		apply: func(p *Parts, r *mode.Reader) error {
			if err := r.Done(); err != nil {
				return err
			}
			p.Algorithm = draining{releasing{around{p.Algorithm}}}
			return nil
		},
	}
}

// draining is an algorithm whose refusals take what is left. It tells the wait
// from there.
type draining struct{ releasing }

func (a draining) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	d, err := a.Algorithm.Decide(s, now, cost)
	if err != nil || d.Admitted || d.Remaining < 1 || d.Remaining >= cost {
		return d, err
	}
	took, err := a.Algorithm.Decide(s, now, d.Remaining)
	if err != nil || !took.Admitted {
		return d, nil
	}
	// Asking a copy again spends nothing and notes nothing.
	again, err := a.Algorithm.Decide(s.Clone(), now, cost)
	again.Before, again.After, again.Admitted = d.Before, took.After, false
	return again, err
}
