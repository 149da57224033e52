package defect

import (
	"fmt"
	"math"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// retryForm is one way to tell another wait than the true one.
type retryForm struct {
	name    string
	windows bool // whether it is about a window, which the limit has to have
	told    func(d limiter.Decision, wall int64, promise scenarios.Limit) int64
}

func retryForms() []retryForm {
	return []retryForm{
		{name: "floor", told: func(d limiter.Decision, _ int64, _ scenarios.Limit) int64 { return int64(d.Wait / time.Second) }},
		{name: "exclusive", told: func(d limiter.Decision, _ int64, _ scenarios.Limit) int64 { return d.RetryAfter() }},
		{name: "zero", told: func(limiter.Decision, int64, scenarios.Limit) int64 { return 0 }},
		{name: "neg", told: func(d limiter.Decision, _ int64, _ scenarios.Limit) int64 { return -d.RetryAfter() }},
		{name: "neg-epoch", told: func(d limiter.Decision, wall int64, _ scenarios.Limit) int64 {
			return d.RetryAfter() - wall/int64(time.Second)
		}},
		{name: "window", windows: true, told: wholeWindow},
		{name: "full-interval", windows: true, told: fullInterval},
		{name: "ms", told: func(d limiter.Decision, _ int64, _ scenarios.Limit) int64 {
			return ceil(int64(max(d.Wait, time.Millisecond)), int64(time.Millisecond))
		}},
		{name: "epoch", told: func(d limiter.Decision, wall int64, _ scenarios.Limit) int64 {
			return ceil(wall+int64(max(d.Wait, 0)), int64(time.Second))
		}},
		{name: "common-deadline", windows: true, told: commonDeadline},
	}
}

func retryAfter() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "ra",
			Settings: "form=floor|exclusive|zero|neg|neg-epoch|window|full-interval|ms|epoch|common-deadline|utc-zone,late=DURATION,penalty=DURATION",
			Example:  "ra{form=floor}",
			Text: "Retry-After is the true wait rounded down (floor, may be 0); right, but who comes back at that moment, or up to late after it (default 1s), is refused again (exclusive); " +
				"always 0 (zero), negative (neg), or with the date taken off (neg-epoch); the whole window, of a bucket the time in which all of it refills (window), or whole tokens though a part of one is there (full-interval); " +
				"in milliseconds (ms), or a moment in seconds since 1970 (epoch); the same moment for all, which brings those together who are told dates (common-deadline); or a date that is rounded down and ends in UTC (utc-zone). With penalty, who obeys floor or exclusive and is refused again is locked out for so long.",
		},
		rows:    []string{"D40", "D41", "D42", "D43", "D51"},
		reports: []string{"go-chi/httprate issue 47", "alisaifee/flask-limiter issue 62", "planningcenter/developers issue 606", "fastify/fastify-rate-limit issue 301", "NousResearch/hermes-agent PR 109234"},
		stage:   outside,
		apply:   applyRetryAfter,
	}
}

func applyRetryAfter(p *Parts, r *mode.Reader) error {
	forms, names := retryForms(), []string{"utc-zone"}
	for _, f := range forms {
		names = append(names, f.name)
	}
	name := r.Choice("form", "", names...)
	late, penalty := r.DurationOr("late", time.Second), r.DurationOr("penalty", 0)
	early := name == "floor" || name == "exclusive"
	r.Require(!r.Has("late") || name == "exclusive", "late", "goes with form=exclusive")
	r.Require(!r.Has("penalty") || early, "penalty", "goes with form=floor or exclusive")
	r.Require(late > 0 && late <= maxStep, "late", "give more than 0 and at most a year")
	r.Require(penalty >= 0 && penalty <= maxStep, "penalty", "give 0s to a year")
	if err := r.Done(); err != nil {
		return err
	}
	if name == "utc-zone" {
		p.RetryDate = func(moment int64) string { return time.Unix(0, moment).UTC().Format(time.RFC1123) }
		return nil
	}
	promise := p.Algorithm.Promise()
	for _, f := range forms {
		if f.name != name {
			continue
		}
		if f.windows && window(promise) == 0 {
			return fmt.Errorf("ra: form: a %s limit has no window; write for example ra{form=floor}", promise.Contract)
		}
		p.RetryAfter = func(d limiter.Decision, wall int64) int64 { return f.told(d, wall, promise) }
		switch {
		case name == "exclusive":
			p.Algorithm = obeyed{note[appointment](p.Algorithm), late, penalty, p.RetryAfter}
		case penalty > 0:
			p.Algorithm = obeyed{note[appointment](p.Algorithm), -1, penalty, p.RetryAfter}
		}
	}
	return nil
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

func wholeWindow(_ limiter.Decision, _ int64, promise scenarios.Limit) int64 {
	return limiter.Decision{Wait: window(promise)}.RetryAfter()
}

// fullInterval takes as long for a token of which a part is there as for one of
// which nothing is.
func fullInterval(d limiter.Decision, _ int64, promise scenarios.Limit) int64 {
	interval := promise.Rate.Per
	if promise.Burst > 0 {
		interval = promise.Rate.Time(1)
	}
	if d.Wait < 0 || interval == 0 {
		return d.RetryAfter()
	}
	d.Wait = saturated(ceil(int64(d.Wait), int64(interval)), interval)
	return d.RetryAfter()
}

// commonDeadline is the first edge of a grid that all clients have in common
// after which they may come back.
func commonDeadline(d limiter.Decision, wall int64, promise scenarios.Limit) int64 {
	grid := int64(window(promise))
	free := wall + int64(max(d.Wait, 0))
	return ceil(free-free%grid+grid-wall, int64(time.Second))
}

// saturated is so many times a time, or the longest one.
func saturated(times int64, each time.Duration) time.Duration {
	if times > math.MaxInt64/int64(each) {
		return math.MaxInt64
	}
	return time.Duration(times) * each
}

// ceil divides a number that is not negative.
func ceil(n, by int64) int64 {
	q := n / by
	if n%by > 0 {
		q++
	}
	return q
}
