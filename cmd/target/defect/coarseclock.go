package defect

import (
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func coarseClock() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "coarse-clock",
			Settings: "granularity=DURATION",
			Example:  "coarse-clock{granularity=1s}",
			Text:     "The clock is read in whole seconds, or other steps since 1970, so what is earned comes all at once when the second turns.",
		},
		rows:    []string{"D06"},
		stage:   wraps,
		on:      On{Limit: "token-bucket{burst=10,rate=10/s}"},
		reports: []string{"spring-cloud/spring-cloud-gateway issue 1117", "spring-cloud/spring-cloud-gateway issue 4027", "spring-cloud/spring-cloud-gateway issue 368"},
		apply: func(p *Parts, r *mode.Reader) error {
			step := r.DurationOr("granularity", time.Second)
			r.Require(step > 1 && step <= maxStep, "granularity", "give more than a nanosecond and at most a year")
			if err := r.Done(); err != nil {
				return err
			}
			p.Algorithm = coarse{around{p.Algorithm}, int64(step)}
			return nil
		},
	}
}

// coarse is an algorithm that is told the time in whole steps, rounded down.
type coarse struct {
	around
	step int64 // nanoseconds
}

func (c coarse) floor(now int64) int64 {
	past := now % c.step
	if past < 0 {
		past += c.step
	}
	return now - past
}

func (c coarse) Fresh(now int64) limiter.State { return c.Algorithm.Fresh(c.floor(now)) }

func (c coarse) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	return c.Algorithm.Decide(s, c.floor(now), cost)
}

func (c coarse) View(s limiter.State, now int64) limiter.Decision {
	return c.Algorithm.View(s, c.floor(now))
}

func (c coarse) Forgettable(s limiter.State, now int64) bool {
	return c.Algorithm.Forgettable(s, c.floor(now))
}

// Release passes on to a limiter that wants to know.
func (c coarse) Release(s limiter.State, now, cost int64) {
	if r, ok := c.Algorithm.(limiter.Releaser); ok {
		r.Release(s, c.floor(now), cost)
	}
}
