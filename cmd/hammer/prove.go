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

// prover sees that the server reads the clock that is moved, before anything is fired.
type prover struct {
	session *session
	tools   action.Tools
	by      *action.Guardian
	label   string    // of the key that is asked on
	begun   time.Time // all moments are counted from here, whatever happens to our own wall clock
	peer    string    // address that answers
}

// prove steps the clock back and forth. The Date of the answers has to follow, or the
// processes have to be seen to read the clock while they answer. It steps back first, so
// that whoever takes the time since the last request from the clock has a full bucket
// afterwards. The admin side of the reference server tells its clock by itself, and needs
// no proof.
func (s *session) prove(ctx context.Context, a *acting, g *action.Guardian, label string, actions []scenarios.Action) error {
	moves := slices.ContainsFunc(actions, func(a scenarios.Action) bool { return a.OfClock() && a.On != scenarios.OnStore })
	if !moves || a.tools.Admin != "" {
		return nil
	}
	if s.supply.fresh {
		label += " clock" // the answers to the first requests on the other one are looked at later
	}
	p := &prover{session: s, tools: a.tools, by: g, label: label, begun: time.Now()}
	before, dated, err := p.ahead(ctx)
	if err != nil {
		return err
	}
	if _, err := g.Do(ctx, scenarios.Action{Act: scenarios.ClockStep, By: -proofStep}); err != nil {
		return err
	}
	note, err := p.stepped(ctx, before, dated)
	if ended := p.by.Look(); ended != nil { // somebody else answers
		return &probes.Hinted{Err: ended, Hint: "perhaps another server has its port: end that one first, or give its process with --clock-pid"}
	}
	_, back := g.Do(ctx, scenarios.Action{Act: scenarios.ClockStep, By: proofStep})
	if err != nil || back != nil {
		return errors.Join(err, back)
	}
	if dated {
		// Until Date is right again: what it tells later is not of this step.
		if settled, err := p.until(ctx, before.overlaps); err != nil || !settled {
			return errors.Join(err, unproven{fmt.Errorf("the wall clock was stepped back by %v and forth again, and the Date of the server's answers did not come back within %v", proofStep, proofWait)})
		}
	}
	s.notes = append(s.notes, note)
	return nil
}

// stepped looks for the effect of the step back, and says what it was.
func (p *prover) stepped(ctx context.Context, before reach, dated bool) (note string, err error) {
	byPID := len(p.tools.PIDs) > 0
	switch {
	case !dated && byPID:
		return p.watched(ctx)
	case !dated:
		return "", unproven{&probes.Hinted{Err: errors.New("the server's answers have no Date, by which it could be seen that it reads the clock that is moved"),
			Hint: "let it send Date, or start it yourself and give --clock-pid PID, by which it is seen from inside"}}
	}
	followed, err := p.until(ctx, before.left)
	if err != nil {
		return "", err
	}
	if followed {
		return fmt.Sprintf("the server's Date followed a step of %v back and forth: it reads the clock that is moved", proofStep), nil
	}
	why := ""
	if byPID {
		why = p.why(ctx)
	}
	return "", unproven{&probes.Hinted{Err: fmt.Errorf("the wall clock was stepped back by %v, and the Date of the server's answers did not follow within %v: the server does not read the clock that was moved%s", proofStep, proofWait, why),
		Hint: "is it the right process, or one of its children (--clock-children)? A program that makes the system call itself, or a proxy in front that writes Date, is not reached: step the clock of its virtual machine or container by a command instead. A server that reads the clock once, when it starts, has nothing to fear of a step"}}
}

// until asks until the server's clock is somewhere, for as long as Date may be cached.
func (p *prover) until(ctx context.Context, so func(now reach) bool) (bool, error) {
	for until := time.Now().Add(proofWait); ; time.Sleep(200 * time.Millisecond) {
		now, dated, err := p.ahead(ctx)
		switch {
		case err != nil:
			return false, err
		case dated && so(now):
			return true, nil
		case time.Now().After(until) || ctx.Err() != nil:
			return false, ctx.Err()
		}
	}
}

// reach is from when to when something can be.
type reach struct{ lo, hi time.Duration }

// left reports whether what was in a reach is behind by the step now.
func (r reach) left(now reach) bool {
	return now.hi < r.lo && now.lo <= r.hi-proofStep && now.hi >= r.lo-proofStep
}

func (r reach) overlaps(now reach) bool { return now.lo <= r.hi && now.hi >= r.lo }

// ahead is how far the server's wall clock is ahead of ours: Date is cut to the second,
// and may be as old. Not dated: the answer has no Date.
func (p *prover) ahead(ctx context.Context) (r reach, dated bool, err error) {
	now := func() time.Time { return p.begun.Round(0).Add(time.Since(p.begun)) }
	sent := now()
	answer, err := p.ask(ctx)
	answered := now()
	if err != nil {
		return reach{}, false, err
	}
	date, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return reach{}, false, nil
	}
	return reach{date.Sub(answered), date.Add(2 * time.Second).Sub(sent)}, true, nil
}

func (p *prover) ask(ctx context.Context) (probes.Preflight, error) {
	answer, err := p.session.gun.Preflight(ctx, p.label, 1)
	if err == nil {
		p.peer = answer.Peer
	}
	return answer, err
}
