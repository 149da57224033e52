package defect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

const (
	maxStep  = 365 * 24 * time.Hour // far more than any clock is stepped by in earnest
	maxAhead = 20 * maxStep         // with what else moves the clock it stays within 64 bits of nanoseconds
)

func wallClock() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "wall-clock",
			Settings: "form=naive|floor|clamp|max|drain|panic,step=DURATION,every=DURATION",
			Example:  "wall-clock{step=-10s,every=30s}",
			Text:     "Time is taken from the wall clock. With settings that clock steps by itself, by step whenever another every has passed since the limit came, each time further and not to and fro, for this limit and the Date of its answers only. A step forward hands out what no time has earned, and one back takes tokens from a bucket (naive), but not below none (floor), or only sets its last moment back (clamp), or freezes it until time has come up again (max), or empties it (drain), or fails with a 500 (panic); a fixed window on a grid it leaves for an earlier one (naive) or freezes (max); other algorithms have one way each, and no form.",
		},
		rows:  []string{"D13", "D14", "D15"},
		stage: wraps,
		reports: []string{"ProfessionalWiki/MediaWiki-MCP-Server issue 557", "sethvargo/go-limiter issue 41", "SandeepVashishtha/Eventra issue 6488", "datalust/seq-tickets issue 330",
			"spring-cloud/spring-cloud-gateway issue 2412"},
		apply: func(p *Parts, r *mode.Reader) error {
			form := r.Choice("form", string(naive), forms(bucketForms)...)
			step, every := r.DurationOr("step", 0), r.DurationOr("every", 0)
			r.Require(r.Has("step") == r.Has("every"), "step", "and every go together, give both or neither")
			r.Require(!r.Has("step") || step != 0 && step.Abs() <= maxStep, "step", "give a duration other than 0, of at most a year either way")
			r.Require(!r.Has("every") || every > 0, "every", "give a duration above 0")
			if err := r.Done(); err != nil {
				return err
			}
			stepped, err := onWallClock(p.Algorithm, backward(form), r.Has("form"))
			if err != nil {
				return fmt.Errorf("wall-clock: %w", err)
			}
			p.Now = func(i clock.Instant) int64 { return i.Wall }
			if r.Has("step") {
				p.Ahead = stepping{p.Came, int64(step), int64(every)}.ahead
				p.Now = func(i clock.Instant) int64 { return i.Wall + p.Ahead(i.Mono) }
			}
			p.Algorithm = stepped
			return nil
		},
	}
}

// stepping is a clock that is stepped again and again, as those of machines that
// sleep and wake are.
type stepping struct {
	from, step, every int64 // nanoseconds, from on the monotonic clock
}

// ahead is what the steps have come to at a monotonic moment.
func (s stepping) ahead(mono int64) int64 {
	n := max(mono-s.from, 0) / s.every
	return min(n, int64(maxAhead/time.Duration(s.step).Abs())) * s.step
}

// backward is what an algorithm does about a moment that is earlier than one it
// has seen.
type backward string

const (
	naive backward = "naive"
	floor backward = "floor"
	clamp backward = "clamp"
	last  backward = "max"
	drain backward = "drain"
	fails backward = "panic"
)

var (
	bucketForms = []backward{naive, floor, clamp, last, drain, fails}
	windowForms = []backward{naive, last}
)

func forms(all []backward) (words []string) {
	for _, f := range all {
		words = append(words, string(f))
	}
	return words
}

// onWallClock is an algorithm that may be given moments that go back.
func onWallClock(a limiter.Algorithm, form backward, given bool) (limiter.Algorithm, error) {
	var known []backward
	switch d := deciding(a).(type) {
	case *limiter.Concurrency:
		return nil, fmt.Errorf("a %s limit goes by no clock", a.Promise().Contract)
	case *limiter.TokenBucket:
		known = bucketForms
	case *limiter.FixedWindow:
		if d.Grid().Align != limiter.FirstHit {
			known = windowForms
		}
	}
	switch {
	case given && known == nil:
		return nil, fmt.Errorf("form: what decides for this %s limit has one way of its own, leave form out", a.Promise().Contract)
	case given && !slices.Contains(known, form):
		return nil, fmt.Errorf("form: %s is for token buckets, for windows there are %s", form, strings.Join(forms(known), ", "))
	case known == nil || form == last: // which is what the algorithms do by themselves
		return lasting{releasing{around{a}}}, nil
	}
	if _, isWindow := deciding(a).(*limiter.FixedWindow); isWindow {
		return recounted{around{a}}, nil
	}
	b, err := bucketOf("wall-clock", a)
	return rewound{around{a}, b, form}, err
}

// lasting is an algorithm that keeps the latest moment it has seen, as they all
// do by themselves. What is wrong is its clock, which a store that decides by
// itself could not be given; it is wrapped so that such a store refuses it.
type lasting struct{ releasing }

// Forgettable is never true: a step back would spare a fresh key.
func (l lasting) Forgettable(limiter.State, int64) bool { return false }

// recounted is a fixed window that counts anew in any other window than that of
// the last request, an earlier one too.
type recounted struct{ around }

func (w recounted) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	w.reopen(s.(*limiter.Window), now)
	return w.Algorithm.Decide(s, now, cost)
}

func (w recounted) View(s limiter.State, now int64) limiter.Decision {
	k := *s.(*limiter.Window)
	w.reopen(&k, now)
	return w.Algorithm.View(&k, now)
}

// reopen begins an earlier window, with nothing in it; a later one the window
// begins by itself.
func (w recounted) reopen(k *limiter.Window, now int64) {
	if fresh := w.Fresh(now).(*limiter.Window); fresh.Start < k.Start {
		*k = *fresh
	}
}

// Forgettable is never true, as that of the others.
func (w recounted) Forgettable(limiter.State, int64) bool { return false }
