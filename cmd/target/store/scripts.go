package store

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/scenarios"
)

// maxExact is the bound of whole numbers in a script, where numbers are doubles.
const maxExact = 1 << 53

// maxLeases bounds what a concurrency limit in Redis can have under way: each
// token in use is a member of a set.
const maxLeases = 100_000

//go:embed lua/*.lua
var sources embed.FS

// compose is the script that decides by limits of these kinds.
func compose(limits []scripted) (string, error) {
	files := []string{"head"}
	for _, l := range limits {
		if !slices.Contains(files, l.kind) {
			files = append(files, l.kind)
		}
	}
	var script strings.Builder
	for _, name := range append(files, "decide") {
		text, err := sources.ReadFile("lua/" + name + ".lua")
		if err != nil {
			return "", fmt.Errorf("reading the script %s: %w", name, err)
		}
		script.Write(text)
	}
	return script.String(), nil
}

// scripted is a limit as the script has it. There a moment is microseconds.
type scripted struct {
	kind     string                      // a function of the script, and its file
	settings [4]int64                    // of that function
	numbers  int                         // how many the state has
	state    func([]int64) limiter.State // the state of the algorithm that those numbers are
	lease    int                         // which of them names what is taken; 0: nothing has to be given back
}

// script says how the script is to decide as the algorithm does. It returns an
// error if it cannot, exactly, with numbers below 2^53 and moments in
// microseconds.
func script(a limiter.Algorithm, lease time.Duration) (scripted, error) {
	for {
		w, ok := a.(limiter.Wrapper)
		if !ok {
			break
		}
		a = w.Unwrap()
	}
	s, err := scriptOf(a, lease)
	if err != nil {
		return s, fmt.Errorf("%s in Redis: %w", a.Promise().Contract, err)
	}
	return s, nil
}

func scriptOf(a limiter.Algorithm, lease time.Duration) (scripted, error) {
	p := a.Promise()
	switch a := a.(type) {
	case *limiter.TokenBucket:
		return scriptBucket(p.Burst, p.Rate, func(level, last int64) limiter.State { return &limiter.Bucket{Level: level, Last: last} })
	case *limiter.Meter:
		_, unit := p.Rate.Units()
		return scriptBucket(p.Burst, p.Rate, func(level, last int64) limiter.State {
			return &limiter.Water{Level: p.Burst*unit - level, Last: last}
		})
	case *limiter.GCRA:
		return scriptSlot(p.Burst, p.Rate)
	case *limiter.Queue:
		return scriptSlot(p.Burst+1, p.Rate)
	case *limiter.Lumps:
		return scriptLumps(p, a.Grid())
	case *limiter.FixedWindow:
		return scriptWindow(p, a.Grid())
	case *limiter.SlidingLog:
		return scriptLog(p, a.LogsRefused())
	case *limiter.SlidingCounter:
		return scriptCounter(p, a.Grid(), a.Test())
	case *limiter.Nginx:
		return scriptNginx(p, a.Thousandths())
	case *limiter.Concurrency:
		return scriptBusy(p, lease)
	case *limiter.Calendar:
		return scripted{}, fmt.Errorf("a calendar is not kept to there: no script knows the days of a zone")
	}
	return scripted{}, fmt.Errorf("there is no script for it")
}

// micro is a rate in lowest terms, num units gained in a microsecond and unit in
// a token, and how many of the algorithm's own units a unit of it is.
func micro(rate scenarios.Rate) (num, unit, scale int64) {
	n, d := rate.Units()
	g := gcd(1000, d) // n and d have no divisor in common
	return n * (1000 / g), d / g, g
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// exact is the error of a product that a script cannot have.
func exact(what string, a, b int64) error {
	if a > maxExact/b {
		return fmt.Errorf("%s is more than 2^53, up to which a script counts exactly; give a smaller burst or count, or a rounder or faster rate", what)
	}
	return nil
}

// whole is a period in microseconds, or an error if it is not a whole number of
// them.
func whole(period time.Duration) (int64, error) {
	if period%time.Microsecond != 0 {
		return 0, fmt.Errorf("a period of %v is not a whole number of microseconds, in which it counts", period)
	}
	return int64(period / time.Microsecond), nil
}

// origin is an edge of the grid in microseconds, or -1 if each key has its own.
func origin(g limiter.Grid) int64 {
	if g.Align == limiter.FirstHit {
		return -1
	}
	return g.Origin / 1000
}

func scriptBucket(tokens int64, rate scenarios.Rate, state func(level, last int64) limiter.State) (scripted, error) {
	num, unit, scale := micro(rate)
	return scripted{
		kind: "bucket", settings: [4]int64{num, unit, tokens * unit}, numbers: 2,
		state: func(n []int64) limiter.State { return state(n[0]*scale, n[1]*1000) },
	}, exact("a full bucket", tokens, unit)
}

// scriptSlot has moments in microseconds and num-ths of one. With num and scale of
// micro, part/num microseconds are part*1000/num nanoseconds, and since the
// rate's own n is num*scale/1000 these are part*scale in n-ths of one.
func scriptSlot(tokens int64, rate scenarios.Rate) (scripted, error) {
	num, unit, scale := micro(rate)
	n, _ := rate.Units()
	err := exact("what can be booked", tokens, unit)
	if err == nil && tokens*unit/num > int64(100*366*24*time.Hour/time.Microsecond) {
		err = fmt.Errorf("what can be booked takes more than a century")
	}
	return scripted{
		kind: "slot", settings: [4]int64{num, unit, tokens * unit}, numbers: 2,
		state: func(raw []int64) limiter.State {
			parts := raw[1] * scale
			return &limiter.Slot{At: raw[0]*1000 + parts/n, Part: parts % n}
		},
	}, err
}

// scriptLumps needs no bound of its own: the time of all lumps is at most 2^62
// nanoseconds.
func scriptLumps(p scenarios.Limit, g limiter.Grid) (scripted, error) {
	period, err := whole(p.Rate.Per)
	return scripted{
		kind: "lumps", settings: [4]int64{p.Burst, p.Rate.Count, period, origin(g)}, numbers: 2,
		state: func(n []int64) limiter.State { return &limiter.Lump{Level: n[0], Mark: n[1] * 1000} },
	}, err
}

func scriptWindow(p scenarios.Limit, g limiter.Grid) (scripted, error) {
	period, err := whole(p.Rate.Per)
	return scripted{
		kind: "window", settings: [4]int64{p.Rate.Count, period, origin(g)}, numbers: 2,
		state: func(n []int64) limiter.State { return &limiter.Window{Start: n[0] * 1000, Count: n[1]} },
	}, err
}

func scriptLog(p scenarios.Limit, refused bool) (scripted, error) {
	period, err := whole(p.Rate.Per)
	s := scripted{kind: "log", settings: [4]int64{p.Rate.Count, period, 0}, numbers: 5, state: logOf}
	if refused {
		s.settings[2] = 1
	}
	return s, err
}

// logOf is a log that is decided as the one the script has: the sum of it, its
// last moment, the sum of what a log of refusals drops, and the sum and moment of
// what has to leave the window. What is in between may be put together.
func logOf(n []int64) limiter.State {
	sum, last, dropped, leaving, leaves := n[0], n[1]*1000, n[2], n[3], n[4]*1000
	return limiter.NewLog(
		limiter.Entry{At: min(last, leaves) - 1, Cost: dropped}, // apart, so that it can be dropped without the rest
		limiter.Entry{At: leaves, Cost: leaving - dropped},
		limiter.Entry{At: last, Cost: sum - max(leaving, dropped)},
	)
}

// scriptCounter needs no bound of its own: an estimate is at most 2^62 times a
// nanosecond, which is less than 2^53 times a microsecond.
func scriptCounter(p scenarios.Limit, g limiter.Grid, test limiter.Test) (scripted, error) {
	period, err := whole(p.Rate.Per)
	full := p.Rate.Count * period
	if test == limiter.Below {
		full += period - 1
	}
	return scripted{
		kind: "counter", settings: [4]int64{full, period, origin(g)}, numbers: 3,
		state: func(n []int64) limiter.State { return &limiter.Counter{Start: n[0] * 1000, Prev: n[1], Cur: n[2]} },
	}, err
}

func scriptNginx(p scenarios.Limit, thousandths int64) (scripted, error) {
	return scripted{
		kind: "nginx", settings: [4]int64{thousandths, (p.Burst - 1) * 1000}, numbers: 2,
		state: func(n []int64) limiter.State { return &limiter.Excess{Level: n[0], Last: n[1]} },
	}, nil
}

func scriptBusy(p scenarios.Limit, lease time.Duration) (scripted, error) {
	var err error
	if p.Burst > maxLeases {
		err = fmt.Errorf("burst %d: give at most %d", p.Burst, maxLeases)
	}
	return scripted{
		kind: "busy", settings: [4]int64{p.Burst, int64(lease / time.Microsecond)}, numbers: 2, lease: 1,
		state: func(n []int64) limiter.State { return &limiter.Busy{Tokens: n[0]} },
	}, err
}
