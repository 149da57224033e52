package assertions

import "sort"

// pessimist is the bucket that holds, at every moment, the least that any
// history leaves in it. At a moment d the bucket's level is the minimum over
// a <= d of b + r(d-a) minus the cost decided between a and d; the least it can
// have been counts every request that may have been decided then:
//
//	least(d) = min over a <= d of b + r(d-a) - cost with Sent <= d and First >= a
//
// It falls only where a request that spends starts, and there for every a at
// once; so one number, debt, stands for all a. In words: charge when a request
// leaves, and while its answer is out the bucket cannot hold it.
//
// A refusal was wrong for certain when least stayed at its cost or above
// through the whole of its interval.
type pessimist struct {
	tempo
	burst  int64 // in 1/den token
	race   int64 // in 1/den token: what comes in a step of the limiter's clock
	now    int64 // ticks
	debt   int64 // max over a of -r(now-a) + cost with First >= a; levels are burst - max(debt, out)
	out    int64 // cost in flight, in 1/den token
	behind int64 // in 1/den token: where nothing is known, the bucket may be that far below empty
	full   int64 // ticks: the last moment at which all but what is in flight may have been there

	refusals int   // in flight
	lows     []low // least at each start since the oldest refusal in flight, rising in time and level
}

// low is the least level at one moment.
type low struct{ at, level int64 }

// newPessimist starts at t with a full bucket, or with an empty one where
// nothing is known of the level. step is that of the limiter's clock.
func newPessimist(p tempo, burst, t int64, full bool, step int64) pessimist {
	x := pessimist{tempo: p, burst: p.weigh(burst), race: p.gain(step), now: t, full: t}
	if !full {
		x.debt = x.burst
	}
	return x
}

// lag makes it the bucket of a limiter whose tokens come so many at a time: what
// the bucket gains by and by from empty, the limiter may get only when all of it
// has come. empty tells that it begins with a level that is not known.
func (p *pessimist) lag(tokens int64, empty bool) {
	p.behind = p.weigh(tokens)
	if empty {
		p.debt += p.behind
	}
}

func (p *pessimist) advance(t int64) {
	p.debt = max(p.debt-p.gain(t-p.now), -levelLimit)
	p.now = t
	if p.debt <= p.out {
		p.full = t
	}
}

// least is the level at now. The limiter reads its clock before it decides, and
// where two requests race, the one that is decided first may have read it later,
// by up to a step: then the other one finds what comes in a step less. That can
// only be one that is in flight as well.
func (p *pessimist) least() int64 {
	out := p.out
	if out > 0 {
		out += p.race
	}
	return p.burst - max(p.debt, out)
}

// spend tells that a request left at t that may take cost tokens.
func (p *pessimist) spend(t, cost int64) {
	p.advance(t)
	w := p.weigh(cost)
	p.out = min(p.out+w, levelLimit)
	p.debt = min(p.debt+w, levelLimit)
	p.note(t)
}

// spent tells that it was decided by t.
func (p *pessimist) spent(t, cost int64) {
	p.advance(t)
	p.debt = max(p.debt, p.out)
	p.out -= p.weigh(cost)
}

// refuse tells that a request left at t that was to be refused.
func (p *pessimist) refuse(t int64) {
	p.advance(t)
	p.refusals++
	p.note(t)
}

// refused tells that a request that left at sent was refused by t, and gives
// the lowest that the least level was between the two moments.
func (p *pessimist) refused(sent, t int64) low {
	p.advance(t)
	i := sort.Search(len(p.lows), func(i int) bool { return p.lows[i].at >= sent })
	l := p.lows[i] // its own start is there, or a lower one behind it
	if p.refusals--; p.refusals == 0 {
		p.lows = p.lows[:0]
	}
	return l
}

func (p *pessimist) note(t int64) {
	if p.refusals == 0 {
		return
	}
	level := p.least()
	n := len(p.lows)
	for n > 0 && p.lows[n-1].level >= level {
		n--
	}
	p.lows = append(p.lows[:n], low{t, level})
}

// unknown forgets the level at t: it may be zero, and what is in flight may
// still have to be taken from it.
func (p *pessimist) unknown(t int64) {
	p.advance(t)
	p.debt = p.burst + p.out + p.behind
	p.full = t
}

// trim drops what no refusal in flight can ask for: none left before oldest.
func (p *pessimist) trim(oldest int64) {
	i := sort.Search(len(p.lows), func(i int) bool { return p.lows[i].at >= oldest })
	p.lows = append(p.lows[:0], p.lows[i:]...)
}
