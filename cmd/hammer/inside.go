package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/probes/action"
)

// What answers do not tell of the time is seen from inside: while the clock is moved, the
// system calls of the processes are watched that a request brings about.

// insight is what was seen from inside.
type insight struct {
	answers int              // while the processes were watched
	times   int              // they asked for the wall clock and were shown the moved one
	raw     int              // they asked the kernel itself, and were told the true one
	calls   int              // of all kinds
	always  bool             // they were shown the moved one while each single request was answered, and less between
	by      []action.Process // who answers; none: that is not to be seen
	family  bool             // that is one of the processes whose clocks are moved
}

const (
	watchedAnswers = 5
	watchedFor     = 2500 * time.Millisecond // some servers look at the clock once a second
)

// watch asks the server some times, with as long a silence before each, and then looks on
// for as long as a server may hold on to the time that it has read.
func (p *prover) watch(ctx context.Context) (a insight, err error) {
	count := func(f func() error) (action.Seen, error) {
		seen, err := p.by.Watched(f)
		a.times, a.raw, a.calls = a.times+seen.Shown, a.raw+seen.Raw, a.calls+seen.Calls
		return seen, err
	}
	ask := func() error {
		a.answers++
		_, err := p.ask(ctx)
		return err
	}
	a.always = true
	idle, busy := 0, 0
	for range watchedAnswers {
		begun := time.Now()
		answering, err := count(ask)
		if err != nil {
			return a, err
		}
		took := time.Since(begun)
		silent, err := count(func() error { time.Sleep(took); return nil })
		if err != nil {
			return a, err
		}
		a.always = a.always && answering.Shown > 0
		idle, busy = idle+silent.Shown, busy+answering.Shown
	}
	a.always = a.always && idle < busy
	a.by = action.AnsweredBy(p.peer)
	a.family = slices.ContainsFunc(a.by, func(o action.Process) bool { return p.tools.Owns(o.PID) })
	if a.times == 0 && a.family {
		_, err = count(func() error {
			for until := time.Now().Add(watchedFor); time.Now().Before(until) && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
				if err := ask(); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return a, err
}

// watched is the proof where answers have no Date.
func (p *prover) watched(ctx context.Context) (note string, err error) {
	a, err := p.watch(ctx)
	if err != nil {
		return "", err
	}
	shown := fmt.Sprintf("it asked its wall clock %d times while it answered %d requests, and was shown the one that is moved", a.times, a.answers)
	switch {
	case a.times > 0 && (a.family || len(a.by) == 0 && a.always):
		return "the server's answers have no Date, and it was watched instead: " + shown, nil
	case a.times == 0 && a.raw == 0 && a.family:
		return fmt.Sprintf("the server's answers have no Date, and it was watched instead: while it answered %d requests it never asked for the wall clock, so that no step of that reaches what it decides then", a.answers), nil
	}
	return "", unproven{&probes.Hinted{Err: errors.New("the server's answers have no Date, and that it reads the clock that is moved was not to be seen from inside either" + p.inside(a)),
		Hint: "give the process that answers to --clock-pid, with --clock-children where it has workers; what makes the system call itself is not reached: step the clock of its virtual machine or container by a command instead"}}
}

// why says what was seen from inside where Date did not follow.
func (p *prover) why(ctx context.Context) string {
	a, err := p.watch(ctx)
	if err != nil {
		return ""
	}
	return p.inside(a)
}

// inside is what was seen, in words that follow others.
func (p *prover) inside(a insight) string {
	given := strings.Trim(fmt.Sprint(p.tools.PIDs), "[]")
	var by []string
	for _, o := range a.by {
		by = append(by, o.String())
	}
	switch {
	case len(a.by) > 0 && !a.family:
		return fmt.Sprintf("; the answers come from process %s, and --clock-pid is %s", strings.Join(by, ", "), given)
	case a.raw > 0 && a.times == 0:
		return fmt.Sprintf("; process %s asked the kernel itself for the time, by raw system calls, %d times during %d answers: that is not reached", given, a.raw, a.answers)
	case a.calls == 0:
		return fmt.Sprintf("; process %s did nothing at all during %d answers", given, a.answers)
	case a.times > 0:
		return fmt.Sprintf("; process %s was shown the moved clock %d times during %d answers", given, a.times, a.answers)
	}
	return fmt.Sprintf("; process %s never asked for the wall clock during %d answers", given, a.answers)
}
