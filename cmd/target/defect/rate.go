package defect

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

func rateOff() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "rate",
			Settings: "ppm=MILLIONTHS",
			Example:  "rate{ppm=+20000}",
			Text:     "The rate is so many millionths faster, or slower, than promised; the number at once is right.",
		},
		rows:  []string{"M-rate"},
		stage: rebuilds,
		apply: func(p *Parts, r *mode.Reader) error {
			ppm := r.Int("ppm")
			r.Require(ppm != 0 && ppm > -1_000_000 && ppm <= 1_000_000, "ppm", "give -999999 to 1000000, but not 0")
			if err := r.Done(); err != nil {
				return err
			}
			off, err := retime(p.Algorithm, 1_000_000+ppm)
			if err != nil {
				return fmt.Errorf("rate: %w", err)
			}
			p.Algorithm = mislabelled{Algorithm: off, promise: p.Algorithm.Promise()}
			return nil
		},
	}
}

// retime is the same algorithm at so many millionths of its rate: its tokens come
// faster, or its periods are shorter.
func retime(a limiter.Algorithm, ppm int64) (limiter.Algorithm, error) {
	p := a.Promise()
	rate := p.Rate.Times(ppm, 1_000_000)
	period := scenarios.Rate{Count: p.Rate.Count, Per: scaled(p.Rate.Per, 1_000_000, ppm)}
	switch a := a.(type) {
	case mislabelled: // by another defect
		inner, err := retime(a.Algorithm, ppm)
		a.Algorithm = inner
		return a, err
	case *limiter.TokenBucket:
		return limiter.NewTokenBucket(p.Burst, rate)
	case *limiter.Meter:
		return limiter.NewMeter(p.Burst, rate)
	case *limiter.GCRA:
		return limiter.NewGCRA(p.Burst, rate)
	case *limiter.Queue:
		return limiter.NewQueue(p.Burst, rate)
	case *limiter.Lumps:
		l, err := limiter.NewLumps(p.Burst, period, a.Grid().Align)
		return started(l, a.Grid(), err)
	case *limiter.FixedWindow:
		w, err := limiter.NewFixedWindow(period, a.Grid().Align)
		return started(w, a.Grid(), err)
	case *limiter.SlidingLog:
		return limiter.NewSlidingLog(period, a.LogsRefused())
	case *limiter.SlidingCounter:
		c, err := limiter.NewSlidingCounter(period, a.Test(), a.Grid().Align)
		return started(c, a.Grid(), err)
	default:
		return nil, fmt.Errorf("%s cannot be given another rate", p.Contract)
	}
}

// scaled is d times num/den, rounded down; num and den are at most two million.
func scaled(d time.Duration, num, den int64) time.Duration {
	n, m := time.Duration(num), time.Duration(den)
	return d/m*n + d%m*n/m
}
