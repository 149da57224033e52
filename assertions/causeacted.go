package assertions

import (
	"fmt"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CauseActed is the id of a cause that is no clock: something that was done to the server.
const CauseActed = "action"

// effect is what followed an action until the next one.
type effect struct {
	mark    results.Mark
	refused map[int32]bool // keys on which something was refused wrongly
	over    map[int32]bool // keys on which too much was admitted
	first   int64          // nanoseconds: the first of it
}

// acts looks for breaches that are all behind something that was done to the server.
func (d *diagnosis) acts(list breaches) (c results.Cause, ok bool) {
	if len(list) == 0 || len(d.acted.marks) == 0 {
		return c, false
	}
	effects := d.effects(list)
	if len(effects) == 0 {
		return c, false
	}
	first := effects[0]
	if d.acted.freed && first.mark.Kind == results.MarkClock && len(first.over) == 0 {
		return c, false // no clock that was moved explains what was refused
	}
	c = results.Cause{ID: CauseActed}
	if first.mark.Kind == results.MarkClock {
		c.ID = CauseClock
	}
	for _, e := range effects {
		c.AtNS = append(c.AtNS, e.mark.At)
	}
	c.Text = fmt.Sprintf("at %s %s, and the promise was kept until then: %s", instant(first.mark.At), first.mark.Text, d.followed(first))
	if family := d.family(effects); family != "" {
		c.Text += ", " + family
	}
	if n := len(effects) - 1; n > 0 {
		c.Reasons = append(c.Reasons, fmt.Sprintf("it was so again behind %d of what was done later", n))
	}
	if n := d.innocent(effects); n > 1 {
		c.Reasons = append(c.Reasons, fmt.Sprintf("%d clients were refused who had been admitted fewer than %d in their whole life, which no algorithm on a clock that goes on does", n, d.limit().Size()))
	}
	if n := d.untouched(first); n > 0 {
		c.Reasons = append(c.Reasons, fmt.Sprintf("%s that first asked later had what was promised", plural(int64(n), "client")))
	}
	return c, true
}

// effects are the actions that something followed; none, where something was broken
// before the first.
func (d *diagnosis) effects(list breaches) (all []effect) {
	of := map[int]*effect{}
	for _, b := range list {
		at, _ := d.whole.clock(b.at, b.at)
		n := -1
		for i, m := range d.acted.marks {
			if m.At <= at {
				n = i
			}
		}
		if n < 0 {
			return nil
		}
		e := of[n]
		if e == nil {
			e = &effect{mark: d.acted.marks[n], refused: map[int32]bool{}, over: map[int32]bool{}, first: at}
			of[n] = e
		}
		if d.refusedAt(b) {
			e.refused[b.key] = true
		} else {
			e.over[b.key] = true
		}
	}
	for i := range d.acted.marks {
		if e := of[i]; e != nil {
			all = append(all, *e)
		}
	}
	// What broke long after something was done does not come from it.
	if late := all[0].first - all[0].mark.To; late > int64(d.limit().Fill())+int64(5*time.Second) {
		return nil
	}
	return all
}

// refusedAt reports whether a breach is a refusal.
func (d *diagnosis) refusedAt(b breach) bool {
	for _, h := range d.whole.byKey()[b.key] {
		if h.to == b.at && h.outcome == results.Limited {
			return true
		}
	}
	return false
}

// followed says what came behind an action.
func (d *diagnosis) followed(e effect) string {
	var parts []string
	if n := len(e.refused); n > 0 {
		parts = append(parts, fmt.Sprintf("%s used before it %s refused in spite of what was left, for up to %s", plural(int64(n), "client"), were(n), duration(d.silence(e))))
	}
	if n := len(e.over); n > 0 {
		parts = append(parts, fmt.Sprintf("%s %s admitted more than was earned", plural(int64(n), "client"), were(n)))
	}
	return strings.Join(parts, ", and ")
}

func were(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// silence is the longest time behind an action in which a client that was refused
// wrongly was admitted nothing, until the next action.
func (d *diagnosis) silence(e effect) (longest int64) {
	until := d.next(e)
	for key := range e.refused {
		last := e.mark.At
		for _, h := range d.whole.byKey()[key] {
			from, to := d.whole.clock(h.from, h.to)
			if from < e.mark.At || from > until {
				continue
			}
			longest = max(longest, from-last)
			if h.outcome == results.Admitted {
				last = to
			}
		}
	}
	return longest
}

// next is when the next action began.
func (d *diagnosis) next(e effect) int64 {
	until := int64(results.Never)
	for _, m := range d.acted.marks {
		if m.At > e.mark.To {
			until = min(until, m.At)
		}
	}
	return until
}

// family is what kind of reckoning answers steps of the clock in this way.
//
// A bucket that adds what passed since it was last asked, and lets that be less than
// nothing, is silent for d - tau - (L-1)/r behind a step back by d, where it was asked
// tau before and held L; a stamp that lies ahead of the clock likewise. One that
// takes less than nothing for nothing shows nothing of a step back, and gives away a
// step forward; under a clock that jumps to and fro it gives away each jump.
func (d *diagnosis) family(effects []effect) string {
	var backRefused, backOver, onOver bool
	for _, e := range effects {
		back := e.mark.Size < 0
		backRefused = backRefused || back && len(e.refused) > 0
		backOver = backOver || back && len(e.over) > 0
		onOver = onOver || e.mark.Size > 0 && len(e.over) > 0
	}
	first := effects[0]
	_, away := takesStore(first.mark)
	switch {
	case away && len(first.over) > 0:
		return "as where others than the limit decide while the store is away (" + CheckOutage + "): declare it with --expect where it is meant"
	case first.mark.Kind == results.MarkFault && endangers(first.mark) && len(first.over) > 0:
		return "as where budgets begin anew behind it: declare it with --expect fresh where it is meant"
	case first.mark.On == scenarios.OnStore && (backRefused || onOver):
		return "as where the time since a client's last request is taken from the store's wall clock"
	case isNode(first.mark.On) && (backOver || onOver):
		return "as where nodes whose clocks differ share what each writes by its own"
	case backRefused && backOver:
		return "as where windows are told apart by the wall clock"
	case backRefused:
		return "as where the time since a client's last request is taken from the wall clock, and may be less than nothing"
	case backOver:
		return "as where any other window of the wall clock is a fresh one"
	case onOver:
		return "as where the time since a client's last request is taken from the wall clock"
	}
	return ""
}

func isNode(on string) bool { return on != "" && on != scenarios.OnServer && on != scenarios.OnStore }

// innocent are the clients who were refused wrongly and had been admitted fewer than
// there are at once in their whole life.
func (d *diagnosis) innocent(effects []effect) int {
	known := map[int32]bool{}
	for _, e := range effects {
		for key := range e.refused {
			admitted := int64(0)
			for _, h := range d.whole.byKey()[key] {
				if h.outcome == results.Limited {
					break
				}
				admitted += h.cost
			}
			if admitted < d.limit().Size() {
				known[key] = true
			}
		}
	}
	return len(known)
}

// untouched are the clients who came behind an action and were never refused wrongly,
// until the next one.
func (d *diagnosis) untouched(e effect) (n int) {
	until := d.next(e)
	for key, hits := range d.whole.byKey() {
		from, _ := d.whole.clock(hits[0].from, hits[0].to)
		if from > e.mark.To && from < until && !e.refused[key] && !e.over[key] {
			n++
		}
	}
	return n
}
