package defect

import (
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/scenarios"
)

// mislabelled is a limiter that promises what another one does, of delta tokens
// less room, and decides otherwise.
type mislabelled struct {
	limiter.Algorithm
	promise scenarios.Limit
	delta   int64
}

// pose lets another limiter decide in the place of the promised one, whose room
// it has.
func (p *Parts) pose(a limiter.Algorithm) {
	if s, ok := a.(limiter.Starter); ok {
		a = s.Start(p.Clock.Base().UnixNano())
	}
	p.Algorithm = mislabelled{Algorithm: a, promise: p.Algorithm.Promise()}
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

// started is an algorithm whose periods count from where those of grid do.
func started(a limiter.Starter, grid limiter.Grid, err error) (limiter.Algorithm, error) {
	if err != nil {
		return nil, err
	}
	return a.Start(grid.Origin), nil
}
