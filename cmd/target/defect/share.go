package defect

import (
	"fmt"
	"math"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

func staticShare() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "share",
			Settings: "n=NUMBER,route=conn|rr|random",
			Example:  "share{n=3,route=conn}",
			Text:     "Each of n instances admits an n-th part of the limit, rounded down to whole tokens, and what one leaves no other can use; of a limit below n nothing is ever admitted. An instance is within one limiter, and no node (--nodes).",
		},
		rows:    []string{"D22"},
		reports: []string{"TykTechnologies/tyk issue 1244", "TykTechnologies/tyk PR 2676"},
		stage:   rebuilds,
		apply: func(p *Parts, r *mode.Reader) error {
			n, route := readInstances(r)
			if err := r.Done(); err != nil {
				return err
			}
			part, err := portion(p.Algorithm, n)
			if err != nil {
				return fmt.Errorf("share: %w", err)
			}
			p.Algorithm = shared{releasing{around{part}}, p.Algorithm}
			p.split("share", n, route)
			return nil
		},
	}
}

// portion is the same algorithm with an n-th of the tokens, and of the rate.
func portion(a limiter.Algorithm, n int64) (limiter.Algorithm, error) {
	p := a.Promise()
	if int64(p.Rate.Per) > math.MaxInt64/n {
		return nil, fmt.Errorf("a rate of %v cannot be divided by %d", p.Rate, n)
	}
	burst, slow := p.Burst/n, scenarios.Rate{Count: p.Rate.Count, Per: p.Rate.Per * time.Duration(n)}
	few := scenarios.Rate{Count: p.Rate.Count / n, Per: p.Rate.Per}
	if p.Burst > 0 && burst == 0 || p.Burst == 0 && few.Count == 0 {
		return dry{p, most(a)}, nil
	}
	switch a := a.(type) {
	case *limiter.TokenBucket:
		return limiter.NewTokenBucket(burst, slow)
	case *limiter.Meter:
		return limiter.NewMeter(burst, slow)
	case *limiter.GCRA:
		return limiter.NewGCRA(burst, slow)
	case *limiter.Queue:
		return limiter.NewQueue(burst, slow)
	case *limiter.Lumps:
		l, err := limiter.NewLumps(burst, slow, a.Grid().Align)
		return started(l, a.Grid(), err)
	case *limiter.FixedWindow:
		w, err := limiter.NewFixedWindow(few, a.Grid().Align)
		return started(w, a.Grid(), err)
	case *limiter.SlidingLog:
		return limiter.NewSlidingLog(few, a.LogsRefused())
	case *limiter.SlidingCounter:
		c, err := limiter.NewSlidingCounter(few, a.Test(), a.Grid().Align)
		return started(c, a.Grid(), err)
	case *limiter.Concurrency:
		return limiter.NewConcurrency(burst)
	default:
		return nil, fmt.Errorf("%s cannot be divided", p.Contract)
	}
}

// shared is the part of one instance. It tells the limit of the whole.
type shared struct {
	releasing
	whole limiter.Algorithm
}

// Unwrap is the limiter that decides.
func (s shared) Unwrap() limiter.Algorithm { return s.Algorithm }

func (s shared) Promise() scenarios.Limit { return s.whole.Promise() }

// Decide refuses what the whole would admit and the part never can.
func (s shared) Decide(k limiter.State, now, cost int64) (limiter.Decision, error) {
	if _, err := s.whole.Decide(s.whole.Fresh(now), now, cost); err != nil {
		return limiter.Decision{}, err
	}
	d, err := s.Algorithm.Decide(k, now, cost)
	if err != nil {
		d = refusal(s.Algorithm, k, now)
		d.Wait = limiter.Unknown
	}
	return s.told(d, now), nil
}

func (s shared) View(k limiter.State, now int64) limiter.Decision {
	return s.told(s.Algorithm.View(k, now), now)
}

func (s shared) told(d limiter.Decision, now int64) limiter.Decision {
	d.Limit = s.whole.View(s.whole.Fresh(now), now).Limit
	return d
}

// dry never has a token.
type dry struct {
	promise scenarios.Limit
	most    int64
}

// dust is what is remembered of a key that never has one.
type dust struct{}

func (dust) Clone() limiter.State { return &dust{} }

func (a dry) Promise() scenarios.Limit { return a.promise }

func (dry) Fresh(int64) limiter.State { return &dust{} }

func (a dry) Decide(_ limiter.State, _, cost int64) (limiter.Decision, error) {
	if cost < 1 || cost > a.most {
		return limiter.Decision{}, &limiter.CostError{Cost: cost, Most: a.most}
	}
	return limiter.Decision{Unit: 1, Wait: limiter.Unknown}, nil
}

func (dry) View(limiter.State, int64) limiter.Decision { return limiter.Decision{Unit: 1} }

func (dry) Forgettable(limiter.State, int64) bool { return true }
