package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/probes/action"
	"github.com/ratehammer/ratehammer/scenarios"
)

// unproven is why nothing was fired: what would have been done to the server has no
// effect that can be seen, so that a 'kept' would say nothing.
type unproven struct{ err error }

func (u unproven) Error() string { return u.err.Error() }
func (u unproven) Unwrap() error { return u.err }

const (
	proofStep = 5 * time.Second
	proofWait = 3 * time.Second // some servers write Date anew only once a second
)

// prove sees that the server reads the clock that is moved: its answers' Date has to
// follow a step. It steps back first, so that whoever takes the time since the last
// request from the clock has a full bucket afterwards. The admin side of the
// reference server tells its clock by itself, and needs no proof.
func (s *session) prove(ctx context.Context, a *acting, g *action.Guardian, label string, actions []scenarios.Action) error {
	moves := slices.ContainsFunc(actions, func(a scenarios.Action) bool { return a.OfClock() && a.On != scenarios.OnStore })
	if !moves || a.tools.Admin != "" {
		return nil
	}
	before, err := s.ahead(ctx, label)
	if err != nil {
		return err
	}
	if err := g.Do(ctx, scenarios.Action{Act: scenarios.ClockStep, By: -proofStep}); err != nil {
		return err
	}
	followed, err := s.follows(ctx, label, before)
	if back := g.Do(ctx, scenarios.Action{Act: scenarios.ClockStep, By: proofStep}); err != nil || back != nil {
		return errors.Join(err, back)
	}
	if !followed {
		return unproven{&probes.Hinted{Err: fmt.Errorf("the wall clock was stepped back by %v, and the Date of the server's answers did not follow within %v: the server does not read the clock that was moved", proofStep, proofWait),
			Hint: "a server that reads it once, when it starts, has nothing to fear of a step; else: is it the right process, or one of its children (--clock-children)? A program that makes the system call itself, or a proxy in front that writes Date, is not reached: step the clock of its virtual machine or container by a command instead"}}
	}
	s.notes = append(s.notes, fmt.Sprintf("the server's Date followed a step of %v back and forth: it reads the clock that is moved", proofStep))
	return nil
}

// follows reports whether Date goes back by the step.
func (s *session) follows(ctx context.Context, label string, before reach) (bool, error) {
	for until := time.Now().Add(proofWait); ; time.Sleep(200 * time.Millisecond) {
		now, err := s.ahead(ctx, label)
		switch {
		case err != nil:
			return false, err
		case now.hi < before.lo && now.lo <= before.hi-proofStep && now.hi >= before.lo-proofStep:
			return true, nil
		case time.Now().After(until) || ctx.Err() != nil:
			return false, ctx.Err()
		}
	}
}

// reach is from when to when something can be.
type reach struct{ lo, hi time.Duration }

// ahead is how far the server's wall clock is ahead of ours: Date is cut to the
// second, and may be as old.
func (s *session) ahead(ctx context.Context, label string) (reach, error) {
	sent := time.Now()
	p, err := s.gun.Preflight(ctx, label, 1)
	answered := time.Now()
	if err != nil {
		return reach{}, err
	}
	date, err := http.ParseTime(p.Header.Get("Date"))
	if err != nil {
		return reach{}, unproven{&probes.Hinted{Err: errors.New("the server's answers have no Date, by which it could be seen that it reads the clock that is moved"),
			Hint: "let it send Date, or move its clock by a command that fails where it has no effect"}}
	}
	return reach{date.Sub(answered), date.Add(2 * time.Second).Sub(sent)}, nil
}
