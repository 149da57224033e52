package defect

import (
	"fmt"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

func reload() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "reload",
			Settings: "keep=false|scope=none|new-keys|rate-only|inflate",
			Example:  "reload{keep=false}",
			Text:     "A reload of the configuration gives everybody a full budget, even one without a change (keep=false); or it does not reach a changed limit at all (scope=none), or only keys that were not in use (new-keys), or only its rate and not its burst (rate-only); or it counts what was spent a thousand times (inflate).",
		},
		rows:    []string{"D31", "D32"},
		stage:   outside,
		on:      On{Limit: "token-bucket{burst=10,rate=1/1m}", Deeds: []string{"/reload", "/reload"}},
		reports: []string{"nuetzliches/hookaido PR 239", "supabase/auth PR 2358", "afreidah/s3-orchestrator issue 84", "golang/go issue 23575", "haproxy/haproxy issue 1497"},
		apply: func(p *Parts, r *mode.Reader) error {
			keep, scope := r.Choice("keep", "true", "true", "false"), r.Choice("scope", "all", "none", "new-keys", "rate-only", "inflate")
			r.Require((keep == "false") != (scope != "all"), "keep", "or scope: give keep=false or a scope, and not both")
			if err := r.Done(); err != nil {
				return err
			}
			a, err := reloaded(p.Algorithm, keep == "false", scope)
			if err != nil {
				return fmt.Errorf("reload: %w", err)
			}
			p.Algorithm = a
			return nil
		},
	}
}

func reloaded(a limiter.Algorithm, refills bool, scope string) (limiter.Algorithm, error) {
	switch {
	case refills:
		return refilled{around{a}}, nil
	case scope == "none":
		return unreached{around{a}}, nil
	case scope == "new-keys":
		return bound{around{a}}, nil
	}
	if err := wantBucket("scope "+scope, a); err != nil {
		return nil, err
	}
	if scope == "inflate" {
		return inflated{around{a}}, nil
	}
	if a.Promise().Contract != scenarios.TokenBucket {
		return nil, fmt.Errorf("scope: rate-only is for a token-bucket")
	}
	return halfway{around{a}}, nil
}

// carry is what becomes of a state.
type carry = func(s limiter.State, now int64) (limiter.State, bool)

// inner is what a defect of this file has been put around, so that it can be
// carried over as if the defect were not there.
func inner(a limiter.Algorithm) limiter.Algorithm {
	switch w := a.(type) {
	case refilled:
		return w.Algorithm
	case unreached:
		return w.Algorithm
	case inflated:
		return w.Algorithm
	case halfway:
		return w.Algorithm
	}
	return a
}

// refilled forgets everybody.
type refilled struct{ around }

func (refilled) Succeed(limiter.Algorithm) (limiter.Algorithm, carry) {
	return nil, func(limiter.State, int64) (limiter.State, bool) { return nil, false }
}

// unreached lets what was in force decide for ever.
type unreached struct{ around }

func (unreached) Succeed(from limiter.Algorithm) (limiter.Algorithm, carry) {
	return from, func(s limiter.State, _ int64) (limiter.State, bool) { return s, true }
}

// inflated makes a thousand of each token that was spent.
type inflated struct{ around }

func (w inflated) Succeed(from limiter.Algorithm) (limiter.Algorithm, carry) {
	_, over := limiter.Succeed(inner(from), w.Algorithm)
	return nil, func(s limiter.State, now int64) (limiter.State, bool) {
		next, ok := over(s, now)
		if ok {
			k := next.(*limiter.Bucket)
			full := w.Algorithm.View(w.Algorithm.Fresh(now), now).Before
			k.Level = full - min(full-k.Level, limiter.MaxLevel/1000)*1000
		}
		return next, ok
	}
}

// halfway takes over the rate, and leaves the burst as it was.
type halfway struct{ around }

func (w halfway) Succeed(from limiter.Algorithm) (limiter.Algorithm, carry) {
	from = inner(from)
	half, err := limiter.NewTokenBucket(from.Promise().Burst, w.Promise().Rate)
	if err != nil || from.Promise().Contract != scenarios.TokenBucket {
		return nil, func(s limiter.State, now int64) (limiter.State, bool) {
			return limiter.Carry(from, w.Algorithm, s, now)
		}
	}
	_, over := limiter.Succeed(from, half)
	return half, over
}

// bound binds each key to the settings under which it was seen first.
type bound struct{ around }

// binding is a state with what decides on it.
type binding struct {
	limiter.State
	by limiter.Algorithm
}

func (b *binding) Clone() limiter.State { return &binding{b.State.Clone(), b.by} }

func (w bound) Fresh(now int64) limiter.State { return &binding{w.Algorithm.Fresh(now), w.Algorithm} }

func (w bound) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*binding)
	return k.by.Decide(k.State, now, cost)
}

func (w bound) View(s limiter.State, now int64) limiter.Decision {
	k := s.(*binding)
	return k.by.View(k.State, now)
}

func (w bound) Forgettable(s limiter.State, now int64) bool {
	k := s.(*binding)
	return k.by.Forgettable(k.State, now)
}

func (w bound) Succeed(from limiter.Algorithm) (limiter.Algorithm, carry) {
	return nil, func(s limiter.State, _ int64) (limiter.State, bool) {
		if _, ok := s.(*binding); ok {
			return s, true
		}
		return &binding{s, from}, true
	}
}
