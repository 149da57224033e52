package clock

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Action is what an Event does to a clock.
type Action string

// The actions.
const (
	Step   Action = "step"   // the wall clock jumps
	Slew   Action = "slew"   // the wall clock runs faster or slower than the monotonic one
	Freeze Action = "freeze" // the wall clock stands still
	Resume Action = "resume" // it goes on from where it stands
	Strobe Action = "strobe" // the wall clock jumps to and fro
	Rate   Action = "rate"   // the monotonic clock, and with it the wall clock, runs faster or slower than the machine's

	StrobeOff Action = "strobe off" // all strobes end, and the wall clock is where it would be without them
)

// Event is one change of how a clock runs.
type Event struct {
	At     time.Duration // on the monotonic clock; 0: from the start
	Action Action
	By     time.Duration // of a step, and of each jump there of a strobe; negative: back
	PPM    int64         // of a slew or a rate: parts per million faster; negative: slower
	Every  time.Duration // of a strobe: after it the clock jumps there, after another one back, and so on
	Times  int64         // of a strobe: jumps there; 0: until further notice
}

// strobe is the one that the event begins, at a running moment.
func (e Event) strobe(running int64) strobe {
	return strobe{from: running, step: int64(e.By), every: int64(e.Every), times: cmp.Or(e.Times, math.MaxInt64), until: math.MaxInt64}
}

// check says what is wrong with the event by itself, or nil.
func (e Event) check() error {
	switch {
	case e.At < 0:
		return fmt.Errorf("%v: give a moment after the start", e)
	case e.Action == Step && e.By.Abs() > 2*maxOffset, e.Action == Strobe && e.By.Abs() > maxOffset: // so that sums cannot overflow
		return fmt.Errorf("%v: the wall clock would be more than 50 years off", e)
	case e.Action == Strobe && (e.Times < 0 || e.Times > maxTimes):
		return fmt.Errorf("%v: it can jump there 1 to %d times, or until it is ended if no number is given", e, int64(maxTimes))
	case e.Action == Strobe && (e.By == 0 || e.Every <= 0):
		return fmt.Errorf("%v: give a step other than 0, a time above 0 and, if it is to end, how often, as in strobe -1s every 250ms times 40", e)
	case e.Action == Slew && (e.PPM < -maxSlew || e.PPM > maxSlew):
		return fmt.Errorf("%v: give at most %dppm either way", e, maxSlew)
	case e.Action == Rate && (e.PPM < -maxRate || e.PPM > maxRate):
		return fmt.Errorf("%v: give at most %dppm either way, which is more than two oscillators differ by", e, maxRate)
	}
	return nil
}

// String is the event as ParseScript reads it.
func (e Event) String() string {
	at := ""
	if e.At != 0 {
		at = fmt.Sprintf("at %v ", e.At)
	}
	switch e.Action {
	case Step:
		return fmt.Sprintf("%sstep %v", at, e.By)
	case Slew, Rate:
		return fmt.Sprintf("%s%s %dppm", at, e.Action, e.PPM)
	case Strobe:
		times := ""
		if e.Times > 0 {
			times = fmt.Sprintf(" times %d", e.Times)
		}
		return fmt.Sprintf("%sstrobe %v every %v%s", at, e.By, e.Every, times)
	default:
		return at + string(e.Action)
	}
}

// Scripted is an event of a script, and whose clock it is about.
type Scripted struct {
	Node int // counted from 1; 0: all
	Event
}

// Script shows the grammar that ParseScript reads.
const Script = "at 5s step -10s; at 8s slew 500ppm; node 2 at 9s freeze; node 2 at 10s resume; at 20s strobe -1s every 250ms times 40; node 3 rate 50ppm"

// ParseScript reads events that are separated by semicolons, such as Script. Each
// says whose clock it is about (node N, else all), when it comes (at DURATION
// since the start, else from the start on) and what happens.
func ParseScript(text string) (all []Scripted, err error) {
	for part := range strings.SplitSeq(text, ";") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		s := Scripted{}
		if err := s.parse(strings.Fields(part)); err != nil {
			return nil, fmt.Errorf("clock %q: %w; write for example %s", strings.TrimSpace(part), err, Script)
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("clock: nothing is said; write for example %s", Script)
	}
	return all, nil
}

func (s *Scripted) parse(words []string) (err error) {
	if len(words) > 1 && words[0] == "node" {
		if s.Node, err = strconv.Atoi(words[1]); err != nil || s.Node < 1 {
			return fmt.Errorf("node %s: give a number from 1", words[1])
		}
		words = words[2:]
	}
	if len(words) > 1 && words[0] == "at" {
		if s.At, err = time.ParseDuration(words[1]); err != nil {
			return fmt.Errorf("at %s: give a duration such as 5s", words[1])
		}
		words = words[2:]
	}
	if len(words) == 0 {
		return errors.New("it does not say what happens")
	}
	if err := s.read(Action(words[0]), words[1:]); err != nil {
		return err
	}
	return s.check()
}

// read reads what an action is given.
func (e *Event) read(a Action, given []string) (err error) {
	e.Action = a
	var want string
	switch {
	case (a == Freeze || a == Resume) && len(given) == 0:
		return nil
	case a == Strobe && len(given) == 1 && given[0] == "off":
		e.Action = StrobeOff
		return nil
	case a == Step && len(given) == 1:
		e.By, err = time.ParseDuration(given[0])
		want = "a signed duration"
	case (a == Slew || a == Rate) && len(given) == 1:
		if a == Rate && e.At != 0 {
			return errors.New("a rate holds from the start on: leave out at")
		}
		e.PPM, err = parsePPM(given[0])
		want = "parts per million as in 500ppm"
	case a == Strobe && (len(given) == 3 || len(given) == 5):
		err = e.readStrobe(given)
		want = "step, period and how often as in strobe -1s every 250ms times 40"
	default:
		return fmt.Errorf("%s is not understood: there are step DURATION, slew N ppm, freeze, resume, strobe DURATION every DURATION times N, strobe off, rate N ppm", strings.Join(append([]string{string(a)}, given...), " "))
	}
	if err != nil {
		return fmt.Errorf("%s wants %s", a, want)
	}
	return nil
}

func (e *Event) readStrobe(given []string) (err error) {
	if given[1] != "every" || len(given) == 5 && given[3] != "times" {
		return errors.New("no strobe")
	}
	if e.By, err = time.ParseDuration(given[0]); err != nil {
		return err
	}
	if e.Every, err = time.ParseDuration(given[2]); err != nil {
		return err
	}
	if len(given) == 5 {
		if e.Times, err = strconv.ParseInt(given[4], 10, 64); err == nil && e.Times < 1 {
			err = errors.New("below 1")
		}
	}
	return err
}

func parsePPM(text string) (int64, error) {
	number, _ := strings.CutSuffix(text, "ppm")
	return strconv.ParseInt(number, 10, 64)
}
