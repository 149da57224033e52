package defect

import (
	"fmt"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// maxDelta is far more than anybody is off by, and no sum with it overflows.
const maxDelta = 1e9

func offByOne() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "off-by-one",
			Settings: "delta=TOKENS",
			Example:  "off-by-one{delta=+1}",
			Text:     "Every key has room for delta tokens more, or less, than is promised; promise and remaining tokens are told as if it had not.",
		},
		rows:    []string{"D04"},
		stage:   rebuilds,
		reports: []string{"higress-group/higress PR 4703", "redis-developer.github.io PR 613", "akira-io/laravel-sisp issue 113", "tj/node-ratelimiter issue 8"},
		apply: func(p *Parts, r *mode.Reader) error {
			delta := r.Int("delta")
			r.Require(delta != 0, "delta", "0 is no defect, give +1 or -1")
			r.Require(delta >= -maxDelta && delta <= maxDelta, "delta", fmt.Sprintf("give at most %d either way", int64(maxDelta)))
			if err := r.Done(); err != nil {
				return err
			}
			room, err := resize(p.Algorithm, delta)
			if err != nil {
				return fmt.Errorf("off-by-one: %w", err)
			}
			p.Algorithm = mislabelled{Algorithm: room, promise: p.Algorithm.Promise(), delta: delta}
			return nil
		},
	}
}

// resize is the same algorithm with delta tokens more room.
func resize(a limiter.Algorithm, delta int64) (limiter.Algorithm, error) {
	p := a.Promise()
	more := scenarios.Rate{Count: p.Rate.Count + delta, Per: p.Rate.Per}
	switch a := a.(type) {
	case mislabelled: // by another defect
		inner, err := resize(a.Algorithm, delta)
		a.Algorithm = inner
		return a, err
	case *limiter.TokenBucket:
		return limiter.NewTokenBucket(p.Burst+delta, p.Rate)
	case *limiter.Meter:
		return limiter.NewMeter(p.Burst+delta, p.Rate)
	case *limiter.GCRA:
		return limiter.NewGCRA(p.Burst+delta, p.Rate)
	case *limiter.Queue:
		return limiter.NewQueue(p.Burst+delta, p.Rate)
	case *limiter.Lumps:
		l, err := limiter.NewLumps(p.Burst+delta, p.Rate, a.Grid().Align)
		return started(l, a.Grid(), err)
	case *limiter.FixedWindow:
		w, err := limiter.NewFixedWindow(more, a.Grid().Align)
		return started(w, a.Grid(), err)
	case *limiter.SlidingLog:
		return limiter.NewSlidingLog(more, a.LogsRefused())
	case *limiter.SlidingCounter:
		c, err := limiter.NewSlidingCounter(more, a.Test(), a.Grid().Align)
		return started(c, a.Grid(), err)
	case *limiter.Calendar:
		return limiter.NewCalendar(p.Rate.Count+delta, a.Per(), a.Zone())
	case *limiter.Concurrency:
		return limiter.NewConcurrency(p.Burst + delta)
	default:
		return nil, fmt.Errorf("%s cannot be given other room", p.Contract)
	}
}
