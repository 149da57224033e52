package defect

import (
	"fmt"
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
			Text:     "Retry-After is the true wait rounded down (floor, may be 0), always 0 (zero), or always the whole window, of a bucket the time in which all of it refills (window).",
		},
		stage: outside,
		apply: func(p *Parts, r *mode.Reader) error {
			form := r.Choice("form", "", "floor", "zero", "window")
			if err := r.Done(); err != nil {
				return err
			}
			window := window(p.Algorithm.Promise())
			if form == "window" && window == 0 {
				return fmt.Errorf("ra: form: a %s limit has no window; write for example ra{form=floor}", p.Algorithm.Promise().Contract)
			}
			p.RetryAfter = retryAfterForm(form, window)
			return nil
		},
	}
}

// window is the time in which all that is promised is there again: that of a
// whole bucket, or of a limit without a burst its window. 0: there is none.
func window(promise scenarios.Limit) time.Duration {
	switch {
	case promise.Rate.Per == 0:
		return 0
	case promise.Burst == 0:
		return promise.Rate.Per
	default:
		return promise.Rate.Time(promise.Burst)
	}
}

func retryAfterForm(form string, window time.Duration) func(limiter.Decision, int64) int64 {
	switch form {
	case "floor":
		return func(d limiter.Decision, _ int64) int64 { return int64(d.Wait / time.Second) }
	case "zero":
		return func(limiter.Decision, int64) int64 { return 0 }
	default: // window
		refill := limiter.Decision{Wait: window}.RetryAfter()
		return func(limiter.Decision, int64) int64 { return refill }
	}
}
