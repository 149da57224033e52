package assertions

import (
	"slices"

	"github.com/ratehammer/ratehammer/scenarios"
)

// ledger is what one key can at most have left, by one account of its limit. It
// hears the starts and ends of requests as models do. Only what was surely
// admitted is taken off, so that it is never less than the truth.
type ledger interface {
	start(b *brief)
	// end gives the most that can be left after the request, in tokens, of which
	// parts are written off. told is what the answer says is left. ok is false
	// where the number cannot be true, whatever else was told.
	end(b *brief, told ...int64) (most int64, ok bool)
	forget()
}

// ledgers are the accounts by which a limit may be kept, of which one has to
// hold: each is a list of what holds together. nil: what is left cannot be known.
func ledgers(sc *scene, l scenarios.Limit) (all []func() []ledger) {
	up := func(burst int64) tempo { return newTempo(l.Rate, l.Slack.Over, sc.length(), burst, roundUp) }
	window := sc.ticks(l.Rate.Per)
	short := window - share(window, l.Slack.Over)
	n, b := l.Rate.Count, l.Burst
	one := func(make func() ledger) func() []ledger { return func() []ledger { return []ledger{make()} } }
	bucket := func(burst, spare int64) func() ledger {
		return func() ledger { return newPurse(up(burst+spare), burst, spare) }
	}
	switch l.Contract {
	case "", scenarios.TokenBucket, scenarios.GCRA, scenarios.Nginx:
		return []func() []ledger{one(bucket(b, 0))}
	case scenarios.Queue:
		return []func() []ledger{one(bucket(b+1, 0))}
	case scenarios.Lumps:
		if n < b {
			return []func() []ledger{one(bucket(b, n))}
		}
		return []func() []ledger{func() []ledger { return []ledger{bucket(b, b)(), &drawer{window: short, most: b}} }}
	case scenarios.FixedWindow:
		return []func() []ledger{one(func() ledger { return &drawer{window: short, most: n} })}
	case scenarios.SlidingLog:
		return []func() []ledger{one(func() ledger { return &roll{window: short, most: n} })}
	case scenarios.SlidingCounter:
		return []func() []ledger{one(func() ledger { return &roll{window: short, most: n, fades: true} })}
	case scenarios.Quota:
		return []func() []ledger{
			one(func() ledger { return &drawer{window: short, most: n} }),
			one(func() ledger { return &roll{window: short, most: n} }),
			one(func() ledger { return &roll{window: short, most: n, fades: true} }),
			one(bucket(n, 0)),
		}
	}
	return nil
}

// purse is the account of a bucket. Its level at d is at most b less the load of
// any window that ends there, of which the staircase has the heaviest. At its end
// a request knows the load there was when it left; since then it may have
// refilled.
type purse struct {
	staircase
	burst, spare int64           // in 1/den token
	loads        map[int64]int64 // by Seq of those in flight: the load when they left
}

func newPurse(p tempo, burst, spare int64) *purse {
	return &purse{staircase: staircase{tempo: p}, burst: p.weigh(burst), spare: p.weigh(spare), loads: map[int64]int64{}}
}

func (p *purse) start(b *brief) {
	if b.torn {
		return
	}
	p.staircase.advance(b.from)
	p.loads[b.seq] = max(p.level, 0)
	p.staircase.start(b.from)
}

// highest is the most that the level can be just before the request was decided,
// at the end of its interval. Earlier it was less by what refills.
func (p *purse) highest(b *brief) int64 {
	load, known := p.loads[b.seq]
	if !known {
		return p.burst
	}
	return max(0, min(p.burst, p.burst+p.spare-load+p.gain(b.to-b.from)))
}

func (p *purse) end(b *brief, told ...int64) (most int64, ok bool) {
	level := p.highest(b) - p.weigh(b.certain())
	delete(p.loads, b.seq)
	if !b.torn {
		p.staircase.end(b.from, b.to, b.certain())
	}
	most = max(0, floorDiv(level, p.den))
	return most, allWithin(told, most)
}

func (p *purse) forget() {
	p.staircase.forget()
	clear(p.loads)
}

// taken is an admission that has ended.
type taken struct{ from, to, cost int64 }

// roll is the account of a sliding window: of what was surely admitted within W,
// all is off. Where it fades, as in the estimate of a counter, an admission counts
// in full until its window ends and then less and less over the next one, so
// that of one that is a old at most a/W has faded.
type roll struct {
	window int64 // ticks
	most   int64 // tokens
	fades  bool
	kept   []taken
}

func (r *roll) start(*brief) {}

func (r *roll) end(b *brief, told ...int64) (most int64, ok bool) {
	used, faded, n := b.certain(), int64(0), 0
	for _, k := range r.kept {
		left := k.from + r.window - b.to // ticks, of W, for which it surely counts
		if left <= 0 {
			continue // nor will it later: ends come in their order
		}
		r.kept[n] = k
		n++
		switch {
		case k.to >= b.from: // it may have been decided later
		case r.fades:
			faded = min(faded+left*min(k.cost, levelLimit/left), levelLimit)
		default:
			used += k.cost
		}
	}
	r.kept = r.kept[:n]
	if b.certain() > 0 && !b.torn {
		r.kept = append(r.kept, taken{b.from, b.to, b.certain()})
	}
	most = max(0, r.most-used-faded/max(r.window, 1))
	return most, allWithin(told, most)
}

func (r *roll) forget() { r.kept = r.kept[:0] }

func allWithin(told []int64, most int64) bool {
	return !slices.ContainsFunc(told, func(n int64) bool { return n > most })
}

// drawer is the account of windows one after the other, wherever they begin. What
// was used in a window stays used in it, whether it was seen to be spent or the
// limiter said so. Where more is told to be left another window has begun, and
// two of these begin no less than W apart.
type drawer struct {
	window int64 // ticks
	most   int64 // tokens
	page   page
	open   map[int64]page // by Seq of those in flight: as it was when they left
	turned closed         // where the last window that had to begin has begun
	any    bool           // whether one had to
}

// page is what is known of one window.
type page struct {
	number int64 // counts the windows that had to begin, from 1; 0: nothing is known
	since  int64 // ticks: it had not ended then
	at     int64 // ticks: requests that left later are not in used unless they have ended
	used   int64 // tokens, at least
}

func (d *drawer) start(b *brief) {
	if b.torn {
		return
	}
	if d.page.number == 0 {
		d.page = page{number: 1, since: b.from, at: b.from - 1}
	}
	if d.open == nil {
		d.open = map[int64]page{}
	}
	d.open[b.seq] = d.page
}

func (d *drawer) end(b *brief, told ...int64) (most int64, ok bool) {
	was, known := d.open[b.seq]
	delete(d.open, b.seq)
	fresh := d.most - b.certain() // left in a window that has just begun
	if !known {
		return fresh, allWithin(told, fresh)
	}
	most = max(0, fresh)
	if was.number == d.page.number {
		most = max(0, fresh-was.used)
	}
	if b.certain() > 0 && b.from > d.page.at {
		d.page.used += b.certain()
	}
	if len(told) == 0 {
		return most, true
	}
	left := slices.Max(told)
	ok = left <= fresh
	if was.number != d.page.number {
		return most, ok // it may be of the window before
	}
	if left > most {
		ok = d.turn(was, b) && ok
	}
	if used := d.most - left; used > d.page.used {
		d.page.used, d.page.at = used, b.to
	}
	return most, ok
}

// turn tells that a window has begun between what was known when a request left
// and its decision, and reports whether it can have.
func (d *drawer) turn(was page, b *brief) bool {
	s := closed{was.since, b.to}
	can := !d.any || s.hi-d.turned.lo >= d.window
	d.turned, d.any = s, true
	d.page = page{number: d.page.number + 1, since: b.from, at: b.to, used: b.certain()}
	return can
}

func (d *drawer) forget() {
	d.page, d.any = page{}, false
	clear(d.open)
}
