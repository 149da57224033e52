package defect

import (
	"fmt"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

func offByOne() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "off-by-one",
			Settings: "delta=TOKENS",
			Example:  "off-by-one{delta=+1}",
			Text:     "Every key has room for delta tokens more, or less, than is promised; promise and remaining tokens are told as if it had not.",
		},
		stage: rebuilds,
		apply: func(p *Parts, r *mode.Reader) error {
			delta := r.Int("delta")
			r.Require(delta != 0, "delta", "0 is no defect, give +1 or -1")
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
	case *limiter.Concurrency:
		return limiter.NewConcurrency(p.Burst + delta)
	default:
		return nil, fmt.Errorf("%s cannot be given other room", p.Contract)
	}
}

// started is an algorithm whose periods count from where those of grid do.
func started(a limiter.Starter, grid limiter.Grid, err error) (limiter.Algorithm, error) {
	if err != nil {
		return nil, err
	}
	return a.Start(grid.Origin), nil
}

// mislabelled is a limiter that promises what another one does, of delta tokens
// less room.
type mislabelled struct {
	limiter.Algorithm
	promise scenarios.Limit
	delta   int64
}

// Unwrap is the limiter that decides.
func (m mislabelled) Unwrap() limiter.Algorithm { return m.Algorithm }

// Release passes on to a limiter that wants to know.
func (m mislabelled) Release(s limiter.State, now, cost int64) {
	if r, ok := m.Algorithm.(limiter.Releaser); ok {
		r.Release(s, now, cost)
	}
}

func (m mislabelled) Promise() scenarios.Limit { return m.promise }

func (m mislabelled) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	d, err := m.Algorithm.Decide(s, now, cost)
	return m.told(d), err
}

func (m mislabelled) View(s limiter.State, now int64) limiter.Decision {
	return m.told(m.Algorithm.View(s, now))
}

func (m mislabelled) told(d limiter.Decision) limiter.Decision {
	d.Remaining = max(0, d.Remaining-m.delta)
	d.Limit -= m.delta
	return d
}
