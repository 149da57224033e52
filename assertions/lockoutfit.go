package assertions

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// What is refused wrongly behind a move of the clock need not come from it. It does
// where a kind of reckoning that goes by that clock explains it: then all clients
// that such a limiter locks out are, and nobody is who was never used before.

// lockoutBlur is how much longer a silence may look than it is: until the next request.
const lockoutBlur = int64(150 * time.Millisecond)

// account says which kind of reckoning does what was seen behind the last of the moves,
// or why it is not the move that did it.
func (a *aftermath) account(x *locked, byKey map[string][]lived, clocks []results.Mark) {
	if len(x.keys) == 0 {
		return
	}
	l := a.limits[0]
	if ticking(clocks) && !x.known {
		x.why = "those clients had asked nothing before it"
		return
	}
	d := -x.mark.Size
	contradicted := 0
	for _, k := range kindsOf(l, d) {
		if !k.fits(x) {
			continue
		}
		if free := k.spared(a.acted.marks, byKey, x.mark); free > 0 {
			contradicted = max(contradicted, free)
			continue
		}
		if x.wrong > 1 || k.long {
			x.family = k.text
			return
		}
	}
	switch {
	case contradicted > 0:
		x.why = fmt.Sprintf("%s that such a clock would lock out %s admitted meanwhile", plural(int64(contradicted), "client"), were(contradicted))
	case x.wrong == 1:
		x.why = "that fits no reckoning by a clock"
	}
}

// ticking reports whether the last of the moves is a step of a clock that went on
// before: what was first used behind it does not know of it.
func ticking(clocks []results.Mark) bool {
	on := true
	for _, m := range clocks {
		switch scenarios.Act(m.Act) {
		case scenarios.ClockFreeze, scenarios.ClockSlew:
			on = false
		case scenarios.ClockResume:
			on = true
		}
	}
	return on && scenarios.Act(clocks[len(clocks)-1].Act) == scenarios.ClockStep
}

// kind is a kind of reckoning that goes by the wall clock, and what a step back does to it.
type kind struct {
	text        string
	least, most int64 // nanoseconds: how long it is silent
	long        bool  // for longer than anything else explains
	// locks is how long behind a step a client is surely locked out who was last
	// admitted so long before, and was refused since, so that nothing was left to it;
	// nil: that is not known. Who has something left may go on until that is spent.
	locks  func(tau int64) int64
	within int64 // nanoseconds behind the step in which it shows; 0: always
}

func (k kind) fits(x *locked) bool {
	return x.silence >= k.least && x.silence <= k.most && (k.within == 0 || x.first <= x.mark.To+k.within)
}

// kindsOf are those that a step back by d shows of, the one of the contract's own kind
// first; none of a step forward.
//
// Asked tau before with L left, a bucket is silent for d - tau - (L-1)/r: between d
// less all that it may hold, and d and a token. A window is for d and what is left of it.
func kindsOf(l scenarios.Limit, d int64) []kind {
	if d <= 0 {
		return nil
	}
	token, fill, per := int64(l.Token()), int64(l.Fill()), int64(l.Rate.Per)
	least := max(d-fill-lockoutBlur, 2*token+1)
	locks := func(tau int64) int64 { return d - tau - token }
	bucket := kind{least: least, most: d + token + lockoutBlur, long: true, locks: locks}
	bucket.text = fmt.Sprintf("a step back by d locks a bucket on the wall clock for d - tau - (L-1)/r, %s here at most, where the time that passed may be less than nothing, where the latest stamp is kept, and where one moment is (GCRA)", duration(bucket.most))
	window := kind{least: least, most: d + max(per, fill) + token + lockoutBlur, long: true, locks: locks}
	window.text = fmt.Sprintf("a step back by d locks windows, logs and keys that expire by the wall clock for d and what is left of a window, %s here at most", duration(window.most))
	level := kind{most: 2*token + lockoutBlur, within: fill + 2*token + lockoutBlur,
		text: "a bucket on the wall clock whose level is cut off at nothing loses what it held, and one that takes less than nothing for nothing (max(0, dt), last = now) what came since it was last asked"}
	switch l.Contract {
	case scenarios.FixedWindow, scenarios.SlidingLog, scenarios.SlidingCounter, scenarios.Quota:
		return []kind{window, bucket, level}
	}
	return []kind{bucket, window, level}
}

// spared are how many clients were admitted behind a step while such a reckoning would
// have locked them out.
func (k kind) spared(marks []results.Mark, byKey map[string][]lived, m results.Mark) (free int) {
	if k.locks == nil || isNode(m.On) { // who is answered by that node is not known
		return 0
	}
	for _, hits := range byKey {
		last, drained := int64(-1), false
		for _, h := range hits {
			if h.first >= m.At {
				break
			}
			if drained = h.outcome == results.Limited; !drained {
				last = h.sent
			}
		}
		if last < 0 || !drained {
			continue
		}
		until := m.At + k.locks(m.At-last) - lockoutBlur
		if until <= m.To {
			continue
		}
		for _, h := range hits {
			if h.outcome == results.Admitted && h.sent > m.To && h.first < cmp.Or(next(marks, m), until) && h.first < until {
				free++
				break
			}
		}
	}
	return free
}

// next is when something was done after a mark; 0: nothing was.
func next(marks []results.Mark, m results.Mark) int64 {
	for _, later := range marks {
		if later.At > m.To {
			return later.At
		}
	}
	return 0
}
