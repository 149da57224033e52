package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Act is what an Action does.
type Act string

// The acts. Those of clocks are about the wall clock alone: a monotonic clock
// stays as it is, as in every step that happens to a machine.
const (
	ClockStep   Act = "step"   // the wall clock jumps by By
	ClockSlew   Act = "slew"   // it runs faster by PPM; 0 ends it
	ClockFreeze Act = "freeze" // it stands still
	ClockResume Act = "resume" // and goes on from there
	ClockStrobe Act = "strobe" // it jumps by By and back, each after Every, there Times times

	ProcessPause    Act = "pause"    // SIGSTOP
	ProcessContinue Act = "continue" // SIGCONT
	ProcessStop     Act = "stop"     // SIGTERM
	ProcessKill     Act = "kill"     // SIGKILL
	ProcessRestart  Act = "restart"  // ended and started again
	ProcessReload   Act = "reload"   // its configuration is read again

	StoreCut     Act = "cut"     // the way to the store is cut
	StoreDelay   Act = "delay"   // and is slower by By
	StoreRestore Act = "restore" // and is as it was

	Command Act = "run" // any program
)

// Part of what is tested that an Action is about.
const (
	OnServer = "server"
	OnStore  = "store"
)

// Action is something that is done to what is tested, at a moment of the run.
type Action struct {
	At     time.Duration // since the run's start
	Act    Act
	On     string        // OnServer or OnStore, or a number from 1: one of several processes or nodes; empty: OnServer, all of it
	By     time.Duration // of a step, a strobe or a delay; negative: back
	PPM    int64         // of a slew: parts per million faster
	Every  time.Duration // of a strobe; of others: it is done again after so long
	Times  int           // of a strobe, and of what is done again; 0: once
	For    time.Duration // after which it is undone; 0: when the run is over
	Run    []string      // of a command: the program and what it is given
	Undo   []string      // of a command: what undoes it; empty: nothing does
	Within time.Duration // of a command: after which it is given up; 0: DefaultWithin
	Expect Expect
	Back   bool // it takes back what another did; files do not say it, since it follows from For
}

// DefaultWithin is how long a command may take that says nothing of it.
const DefaultWithin = 10 * time.Second

// mostActions keeps a schedule within what can be read.
const mostActions = 10_000

// OfClock reports whether the action moves a wall clock.
func (a Action) OfClock() bool {
	return slices.Contains([]Act{ClockStep, ClockSlew, ClockFreeze, ClockResume, ClockStrobe}, a.Act)
}

// OfProcess reports whether it is done to a process.
func (a Action) OfProcess() bool {
	return slices.Contains([]Act{ProcessPause, ProcessContinue, ProcessStop, ProcessKill, ProcessRestart, ProcessReload}, a.Act)
}

// OfStore reports whether it is done to the way to a store.
func (a Action) OfStore() bool {
	return slices.Contains([]Act{StoreCut, StoreDelay, StoreRestore}, a.Act)
}

// Undoes gives what takes the action back, where something of this kind does.
func (a Action) Undoes() (back Action, ok bool) {
	back = Action{At: a.At + a.For, On: a.On, Back: true}
	switch a.Act {
	case ClockStep:
		back.Act, back.By = ClockStep, -a.By
	case ClockSlew:
		back.Act = ClockSlew
	case ClockFreeze:
		back.Act = ClockResume
	case ProcessPause:
		back.Act = ProcessContinue
	case StoreCut, StoreDelay:
		back.Act = StoreRestore
	case Command:
		back.Act, back.Run, back.Within = Command, a.Undo, a.Within
		return back, len(a.Undo) > 0
	default:
		return back, false
	}
	return back, true
}

// String is the action in words, without its moment.
func (a Action) String() string {
	var text string
	switch a.Act {
	case ClockStep:
		text = fmt.Sprintf("the wall clock is stepped by %v", a.By)
	case ClockSlew:
		text = fmt.Sprintf("the wall clock is slewed by %d ppm", a.PPM)
	case ClockFreeze:
		text = "the wall clock stands still"
	case ClockResume:
		text = "the wall clock goes on from where it stands"
	case ClockStrobe:
		text = fmt.Sprintf("the wall clock jumps by %v and back every %v, %d times", a.By, a.Every, max(1, a.Times))
	case StoreDelay:
		text = fmt.Sprintf("the way to the store is slower by %v", a.By)
	case StoreCut:
		text = "the way to the store is cut"
	case StoreRestore:
		text = "the way to the store is restored"
	case Command:
		text = "run " + strings.Join(a.Run, " ")
	default:
		text = "the process " + processWords[a.Act]
	}
	for _, thing := range []string{"wall clock", "process"} {
		switch rest, ok := strings.CutPrefix(text, "the "+thing); {
		case !ok || a.On == "" || a.On == OnServer:
		case a.On == OnStore:
			return "the store's " + thing + rest
		default:
			return "the " + thing + " of node " + a.On + rest
		}
	}
	return text
}

var processWords = map[Act]string{
	ProcessPause: "is paused", ProcessContinue: "goes on", ProcessStop: "is asked to end", ProcessKill: "is killed",
	ProcessRestart: "is restarted", ProcessReload: "reads its configuration again",
}

// check says what is wrong with the action by itself, or nil.
func (a Action) check() error {
	_, undone := a.Undoes()
	switch {
	case a.Act == ClockStep && a.By == 0:
		return errors.New("a step of 0 moves nothing: write clock: {step: -5s}")
	case a.Act == ClockStrobe && (a.By == 0 || a.Every < time.Millisecond):
		return errors.New("a strobe jumps by something other than 0 and back, each after a millisecond or more: write clock: {strobe: -1s, every: 250ms, times: 40}")
	case a.Act == ClockSlew && (a.PPM < -500_000 || a.PPM > 500_000):
		return fmt.Errorf("a slew of %d ppm: give at most 500000ppm either way", a.PPM)
	case (a.Act == ClockStep || a.Act == ClockStrobe) && a.By.Abs() > 366*24*time.Hour:
		return fmt.Errorf("%v is more than a year: give less", a.By)
	case a.Act == StoreDelay && a.By <= 0:
		return errors.New("a delay is above 0: write store: {delay: 200ms}")
	case a.Act == Command && len(a.Run) == 0:
		return errors.New("a command has a program: write run: [program, argument]")
	case a.Act != Command && len(a.Undo) > 0:
		return errors.New("undo is of a command: everything else is undone by itself")
	case a.Act != Command && a.Within != 0:
		return errors.New("within is the time that a command has: for says how long something else lasts")
	case a.For > 0 && !undone:
		return fmt.Errorf("for says when it is undone, and nothing undoes %s", a.Act)
	case a.For > 0 && a.Every > 0 && a.For >= a.Every:
		return errors.New("it would be done again before it is undone: give a longer every, or a shorter for")
	case a.Every == 0 && a.Times > 1:
		return errors.New("times says how often it is done, and every after how long: add every: 30s")
	case a.Every > 0 && a.Every < time.Millisecond:
		return errors.New("every is a millisecond or more")
	case a.Times < 0 || a.Times > mostActions:
		return fmt.Errorf("times %d: give 1 to %d", a.Times, mostActions)
	case a.On != "" && a.On != OnServer && a.On != OnStore && !isNumber(a.On):
		return fmt.Errorf("on %q: write server, store, or the number of a process or node, from 1", a.On)
	}
	if _, err := ParseExpect(a.Expect); err != nil {
		return fmt.Errorf("expect %w, or leave it out where the promise holds all the same", err)
	}
	return nil
}

func isNumber(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n > 0
}

// timeline is what the actions come to: each of what is done again, each jump of a
// strobe, and what undoes it, by itself and in the order of time.
func timeline(actions []Action) (all []Action) {
	for _, a := range actions {
		one := a
		one.Every, one.Times = 0, 0
		for n := range max(1, a.Times) {
			if a.Act == ClockStrobe {
				all = append(all, jumps(a, n)...)
				continue
			}
			one.At = a.At + time.Duration(n)*a.Every
			all = append(all, one)
			if back, ok := one.Undoes(); ok && a.For > 0 {
				back.Expect = a.Expect
				all = append(all, back)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Action) int { return cmp.Compare(a.At, b.At) })
	return all
}

// jumps are the n-th jump there and back of a strobe, as a clock's own: it jumps
// after one period, and back after the next.
func jumps(a Action, n int) []Action {
	there := Action{At: a.At + time.Duration(2*n+1)*a.Every, Act: ClockStep, By: a.By, On: a.On}
	back := there
	back.At, back.By = there.At+a.Every, -a.By
	return []Action{there, back}
}

// late says which action would be behind all that is fired, or nil. Where only a
// repetition is, there is nothing wrong.
func late(actions []Action, end time.Duration) error {
	for i, a := range actions {
		if a.At > end {
			return fmt.Errorf("action %d at %v is behind the last request, at %v: give an earlier at, or fire longer", i+1, a.At, end)
		}
	}
	return nil
}
