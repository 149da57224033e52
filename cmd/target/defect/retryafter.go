package defect

import (
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

func retryAfter() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "ra",
			Settings: "form=floor|zero|window",
			Example:  "ra{form=floor}",
			Text:     "Retry-After is the true wait rounded down (floor, may be 0), always 0 (zero), or always the time in which the whole bucket refills (window).",
		},
		apply: func(p *Parts, r *mode.Reader) error {
			form := r.Choice("form", "", "floor", "zero", "window")
			if err := r.Done(); err != nil {
				return err
			}
			p.RetryAfter = retryAfterForm(form, p.Algorithm.Promise())
			return nil
		},
	}
}

func retryAfterForm(form string, promise scenarios.Limit) func(limiter.Decision) int64 {
	switch form {
	case "floor":
		return func(d limiter.Decision) int64 { return int64(d.Wait / time.Second) }
	case "zero":
		return func(limiter.Decision) int64 { return 0 }
	default: // window
		refill := limiter.Decision{Wait: promise.Rate.Time(promise.Burst)}.RetryAfter()
		return func(limiter.Decision) int64 { return refill }
	}
}
