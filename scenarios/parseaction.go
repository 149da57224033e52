package scenarios

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/scenarios/document"
)

func readActions(v document.Value) (actions []Action) {
	for _, item := range v.List() {
		before := v.Problems()
		a := readAction(item)
		if err := a.check(); err != nil && v.Problems() == before {
			item.Fail("", "%v", err)
		}
		actions = append(actions, a)
	}
	if len(timeline(actions)) > mostActions {
		v.Fail("give fewer times", "more than %d actions", mostActions)
	}
	return actions
}

func readAction(v document.Value) (a Action) {
	before, kinds := v.Problems(), 0
	of := func(read func(document.Value)) func(document.Value) {
		return func(v document.Value) { kinds++; read(v) }
	}
	v.Fields(map[string]func(document.Value){
		"at":    func(v document.Value) { a.At = v.Duration() },
		"clock": of(a.readClock),
		"process": of(func(v document.Value) {
			a.Act = readAct(v, ProcessPause, ProcessContinue, ProcessStop, ProcessKill, ProcessRestart, ProcessReload)
		}),
		"store":  of(a.readStore),
		"run":    of(func(v document.Value) { a.Act, a.Run = Command, readTexts(v) }),
		"undo":   func(v document.Value) { a.Undo = readTexts(v) },
		"within": func(v document.Value) { a.Within = v.Duration() },
		"on":     func(v document.Value) { a.On = v.Text() },
		"for":    func(v document.Value) { a.For = v.Duration() },
		"every":  func(v document.Value) { a.Every = v.Duration() },
		"times":  func(v document.Value) { a.Times = int(v.Int(1, mostActions)) },
		"expect": func(v document.Value) { a.Expect = Expect(v.Text()) },
	})
	if kinds != 1 && v.Problems() == before {
		v.Fail("write for example {at: 5s, clock: {step: -5s}}", "%d of clock, process, store and run are given: an action is one", kinds)
	}
	return a
}

// readClock reads what happens to a clock: freeze, resume, or fields.
func (a *Action) readClock(v document.Value) {
	if v.IsText() {
		a.Act = readAct(v, ClockFreeze, ClockResume)
		return
	}
	before, kinds := v.Problems(), 0
	of := func(act Act, read func(document.Value)) func(document.Value) {
		return func(v document.Value) { kinds++; a.Act = act; read(v) }
	}
	by := func(v document.Value) { a.By = read(v, time.ParseDuration) }
	v.Fields(map[string]func(document.Value){
		"step":   of(ClockStep, by),
		"strobe": of(ClockStrobe, by),
		"slew":   of(ClockSlew, func(v document.Value) { a.PPM = read(v, parsePPM) }),
		"every":  func(v document.Value) { a.Every = v.Duration() },
		"times":  func(v document.Value) { a.Times = int(v.Int(1, mostActions)) },
	})
	if kinds != 1 && v.Problems() == before {
		v.Fail("write clock: {step: -5s}, {slew: 500ppm}, {strobe: -1s, every: 250ms, times: 40}, freeze or resume", "%d things happen to the clock", kinds)
	}
}

func (a *Action) readStore(v document.Value) {
	if v.IsText() {
		a.Act = readAct(v, StoreCut, StoreRestore)
		return
	}
	v.Fields(map[string]func(document.Value){
		"delay": func(v document.Value) { a.Act, a.By = StoreDelay, v.Duration() },
	})
}

func readAct(v document.Value, known ...Act) Act {
	text := v.Text()
	var names []string
	for _, k := range known {
		if text == string(k) {
			return k
		}
		names = append(names, string(k))
	}
	v.Fail(document.Nearest(text, names), "%q is not one of %s", text, strings.Join(names, ", "))
	return ""
}

func parsePPM(s string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSuffix(s, "ppm"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no slew: write parts per million, such as 500ppm", s)
	}
	return n, nil
}

// ParseClock reads what --clock says of a wall clock: step=-5s, slew=500ppm,
// freeze=2s, strobe=-1s/250ms, each perhaps with @5s behind it, its moment.
func ParseClock(s string) (a Action, err error) {
	text, at, timed := strings.Cut(s, "@")
	if timed {
		if a.At, err = time.ParseDuration(at); err != nil || a.At < 0 {
			return a, fmt.Errorf("%q: %q is no moment: write one such as @5s", s, at)
		}
	}
	name, value, _ := strings.Cut(text, "=")
	switch a.Act = Act(name); a.Act {
	case ClockStep:
		a.By, err = time.ParseDuration(value)
	case ClockSlew:
		a.PPM, err = parsePPM(value)
	case ClockFreeze:
		a.For, err = time.ParseDuration(value)
	case ClockStrobe:
		by, every, _ := strings.Cut(value, "/")
		if a.By, err = time.ParseDuration(by); err == nil {
			a.Every, err = time.ParseDuration(every)
		}
	default:
		err = fmt.Errorf("%q is not known", name)
	}
	if err == nil {
		err = a.check()
	}
	if err != nil {
		return a, fmt.Errorf("%q: %w; write step=-5s, slew=500ppm, freeze=2s or strobe=-1s/250ms, and @5s behind it for a moment", s, err)
	}
	return a, nil
}

// flow is an action on one line.
func (a Action) flow() string {
	parts := []string{fmt.Sprintf("at: %v", a.At)}
	add := func(set bool, format string, args ...any) {
		if set {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	switch a.Act {
	case ClockStep:
		add(true, "clock: {step: %v}", a.By)
	case ClockSlew:
		add(true, "clock: {slew: %dppm}", a.PPM)
	case ClockStrobe:
		add(true, "clock: {strobe: %v}", a.By)
	case ClockFreeze, ClockResume:
		add(true, "clock: %s", a.Act)
	case StoreDelay:
		add(true, "store: {delay: %v}", a.By)
	case StoreCut, StoreRestore:
		add(true, "store: %s", a.Act)
	case Command:
		add(true, "run: %s", listed(a.Run))
	default:
		add(true, "process: %s", a.Act)
	}
	add(a.On != "", "on: %s", strconv.Quote(a.On))
	add(a.Every != 0, "every: %v", a.Every)
	add(a.Times != 0, "times: %d", a.Times)
	add(a.For != 0, "for: %v", a.For)
	add(len(a.Undo) > 0, "undo: %s", listed(a.Undo))
	add(a.Within != 0, "within: %v", a.Within)
	add(a.Expect != "", "expect: %s", expectText(a.Expect))
	return "{" + strings.Join(parts, ", ") + "}"
}

func listed(texts []string) string {
	var quoted []string
	for _, t := range texts {
		quoted = append(quoted, strconv.Quote(t))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// expectText is what was declared as a file has it: commas end a value there.
func expectText(e Expect) string {
	if strings.Contains(string(e), ",") {
		return strconv.Quote(string(e))
	}
	return string(e)
}
