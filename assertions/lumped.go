package assertions

import (
	"sort"

	"github.com/ratehammer/ratehammer/results"
)

// lumped is the model of a bucket into which so many tokens fall at once, at
// moments a period apart. The first of them is known to within an interval, and
// so are all others; with the limiter's clock they drift against ours.
//
// Where a key's first request counts them, a bucket that is full again may be as
// good as new, and count them from its next request. Nobody tells whether it
// does, so from the first request on that may have found it full nothing is
// concluded any more.
//
// It is the staircase and the pessimist with a refill that comes in steps. Where
// those reckon r(c-a), this one counts the lumps that may have fallen after a and
// up to c for the upper bound, and those that must have for the lower one: at a
// itself a bucket holds its burst at most, whether or not one fell then.
type lumped struct {
	period, drift int64 // ticks; parts per million
	lump, burst   int64 // tokens
	lo, hi        int64 // ticks: one lump fell at some moment between
	own           bool  // lumps are counted from the key's first request, whose moment lo and hi enclose
	pinned        bool  // lo and hi are known
	thin          bool  // a refusal says that the bucket was short: no other limit can have refused
	steady        bool  // they are counted from the first request for ever
	loose         bool  // the bucket may have been full again, and lumps be counted from then on: nothing is concluded any more

	steps []lumpStep
	load  int64 // the heaviest window: cost minus what may have fallen in it
	from  int64
	to    int64
	any   bool

	debt, out int64 // of the pessimist: the largest cost since some a minus the lumps before it, absolute
	begun     bool
	refusals  int
	lows      []low
	full      int64
}

// lumpStep is a start of a window that may yet be the heaviest.
type lumpStep struct {
	at, value int64 // ticks; lumps before it plus cost of the requests from it on that have ended
	open      int
}

// newLumped has its lumps at lo to hi and every period around; pinned false:
// they are counted from the key's first request.
func newLumped(period, drift, lump, burst, lo, hi int64, pinned bool) *lumped {
	return &lumped{period: period, drift: drift, lump: lump, burst: burst, lo: lo, hi: hi, own: !pinned, pinned: pinned}
}

// blur is by how much a lump at t may be off for the drift of the clocks.
func (l *lumped) blur(t int64) int64 { return share(abs(t-l.lo), l.drift) }

// mayBy is how many tokens may have fallen by t, counted from the known lump.
func (l *lumped) mayBy(t int64) int64 { return l.fell(t + l.blur(t) - l.lo) }

// mustBy is how many must have fallen by t.
func (l *lumped) mustBy(t int64) int64 { return l.fell(t - l.blur(t) - l.hi) }

func (l *lumped) fell(since int64) int64 {
	n := floorDiv(since, l.period)
	if l.own { // before the first use there were none: the bucket was full
		n = max(n, 0)
	}
	return l.lump * n
}

// pin counts the lumps from the key's first use, which was decided between the
// start of the first request and the end of the first one that was answered.
func (l *lumped) pin(x *brief) {
	if l.pinned {
		return
	}
	if !l.begun { // as good as unknown, until one is answered
		l.lo, l.hi = x.from, x.from+64*l.period
	}
	if x.outcome == results.Admitted || x.outcome == results.Limited {
		l.hi = min(l.hi, x.to)
	}
	l.pinned = x.from > l.hi
}

func (l *lumped) start(x *brief) {
	l.pin(x)
	if !l.begun {
		l.begun, l.debt, l.full = true, l.mayBy(x.from), x.from
	}
	l.loosen(x)
	if !x.torn {
		l.open(x.from)
	}
	l.settle(x.from)
	if x.spends() {
		l.out += x.cost
		l.debt += x.cost
	} else {
		l.refusals++
	}
	l.note(x.from)
}

// loosen gives up if the request may find the bucket full, and is not the first.
func (l *lumped) loosen(x *brief) {
	if !l.own || l.steady || l.mayBy(x.to) == 0 {
		return
	}
	if n := len(l.steps); n == 0 || l.steps[n-1].value <= l.mayBy(x.to) {
		l.loose = true
	}
}

// open makes the start of a request a step of the staircase, if it is one.
func (l *lumped) open(t int64) {
	v := l.mustBy(t)
	n := len(l.steps)
	if n == 0 || v > l.steps[n-1].value {
		l.steps = append(l.steps, lumpStep{at: t, value: v})
		if n > 0 && l.steps[n-1].open == 0 {
			l.steps = append(l.steps[:n-1], l.steps[n])
		}
	}
	l.steps[len(l.steps)-1].open++
}

func (l *lumped) end(x *brief) (r room) {
	if !x.torn {
		l.close(x)
	}
	l.settle(x.to)
	if x.spends() {
		l.debt = max(l.debt, l.mayBy(x.to)+l.out)
		l.out -= x.cost
		return room{}
	}
	l.emptied(x)
	i := sort.Search(len(l.lows), func(i int) bool { return l.lows[i].at >= x.from })
	least := l.lows[i].level
	if l.refusals--; l.refusals == 0 {
		l.lows = l.lows[:0]
	}
	return room{judged: !l.loose, wrong: !l.loose && least >= x.cost, left: float64(least), of: float64(l.burst), since: l.full}
}

// emptied begins a window with a refusal that has ended: whoever refused it held
// less than it cost. That is a step like any other, for the requests that left
// afterwards, and higher by what was missing of a full bucket.
func (l *lumped) emptied(x *brief) {
	if x.torn || !l.thin {
		return
	}
	v := l.mustBy(x.from) + max(l.burst-x.cost+1, 0)
	n := len(l.steps)
	if n > 0 && v <= l.steps[n-1].value {
		return
	}
	if n > 0 && l.steps[n-1].open == 0 {
		l.steps = l.steps[:n-1]
	}
	l.steps = append(l.steps, lumpStep{at: x.to + 1, value: v})
}

// close ends a request on the staircase.
func (l *lumped) close(x *brief) {
	g := sort.Search(len(l.steps), func(i int) bool { return l.steps[i].at > x.from }) - 1
	if g < 0 {
		return
	}
	if cost := x.certain(); cost > 0 {
		for i := 0; i <= g; i++ {
			l.steps[i].value += cost
		}
		for g+1 < len(l.steps) && l.steps[g].value >= l.steps[g+1].value {
			l.steps[g].open += l.steps[g+1].open
			l.steps = append(l.steps[:g+1], l.steps[g+2:]...)
		}
		last := l.steps[len(l.steps)-1]
		if load := last.value - l.mayBy(x.to); !l.loose && (!l.any || load > l.load) {
			l.load, l.from, l.to, l.any = load, last.at, x.to, true
		}
	}
	if l.steps[g].open--; l.steps[g].open == 0 && g < len(l.steps)-1 {
		l.steps = append(l.steps[:g], l.steps[g+1:]...)
	}
}

// least is what the bucket holds at least at t.
func (l *lumped) least(t int64) int64 {
	return l.burst + l.mustBy(t) - max(l.debt, l.mayBy(t)+l.out)
}

func (l *lumped) settle(t int64) {
	if l.debt <= l.mayBy(t)+l.out {
		l.full = t
	}
}

func (l *lumped) note(t int64) {
	if l.refusals == 0 {
		return
	}
	level := l.least(t)
	n := len(l.lows)
	for n > 0 && l.lows[n-1].level >= level {
		n--
	}
	l.lows = append(l.lows[:n], low{t, level})
}

func (l *lumped) forget(int64) { l.steps = l.steps[:0] }

func (l *lumped) unknown(t int64) {
	l.begun = true
	l.debt = l.mayBy(t) + l.burst + l.out
	l.full = t
}

func (l *lumped) trim(int64) {}

func (l *lumped) heaviest() heavy {
	if !l.any {
		return heavy{}
	}
	fell := l.mayBy(l.to) - l.mustBy(l.from)
	return heavy{any: true, over: l.load > l.burst, from: l.from, to: l.to,
		got: float64(l.load + fell), allowed: float64(l.burst + fell), rule: ruleLumps, burst: l.burst, lumps: fell / l.lump}
}
