package assertions

import (
	"cmp"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// ownMoves are the times in which a server's Date says nothing of what its clock does by
// itself: hammer moved that clock, or did something else to the server, or our own
// monotonic clock stood still.
type ownMoves struct {
	spans []ownMove // that are not passed, in the order of their beginnings
	moves int64     // that have begun
	until int64     // nanoseconds: the last moment that is not clear
	open  []ownMove // that last until they are ended
}

// ownMove is one: it begins, and it is over at to, or lasts until something ends it.
type ownMove struct {
	from, to int64
	opens    string // what has to end it; empty: it is over at to
	ends     string // what it ends; everyUndo: all
}

// everyUndo ends whatever lasts.
const everyUndo = "undo"

// hear takes in a mark.
func (o *ownMoves) hear(m results.Mark) {
	x := ownMove{from: m.At, to: m.To + int64(2*time.Second)} // a Date that is written once a second is as old
	number := isNode(m.On)
	switch act := scenarios.Act(m.Act); {
	case m.Tears():
		x.to = m.To
	case m.Kind == results.MarkUndo:
		x.ends = everyUndo
	case m.Kind != results.MarkClock && m.Kind != results.MarkFault, m.Kind == results.MarkClock && m.On == scenarios.OnStore:
		return
	case act == scenarios.ClockSlew, act == scenarios.ClockStep && number: // or one of several clocks is off from then on
		x.opens = everyUndo
	case act == scenarios.ClockFreeze, act == scenarios.ClockResume:
		x.opens, x.ends = halves(act == scenarios.ClockFreeze, "freeze "+m.On)
	case act == scenarios.ProcessPause, act == scenarios.ProcessContinue:
		x.opens, x.ends = halves(act == scenarios.ProcessPause, "pause "+m.On)
	case act == scenarios.ProcessRestart, act == scenarios.ProcessReload, act == scenarios.Command:
		x.to += away
	}
	o.spans = append(o.spans, x)
	slices.SortStableFunc(o.spans, func(a, b ownMove) int { return cmp.Compare(a.from, b.from) })
}

func halves(begins bool, what string) (opens, ends string) {
	if begins {
		return what, ""
	}
	return "", what
}

// at says how many moves had begun when an answer came, and whether what it says of the
// time is clear of them. The answers are asked about in the order in which they came.
func (o *ownMoves) at(sent, first int64) (moves int64, clear bool) {
	for len(o.spans) > 0 && o.spans[0].from <= first {
		x := o.spans[0]
		o.spans = o.spans[1:]
		o.moves++
		o.until = max(o.until, x.to)
		switch {
		case x.opens != "":
			o.open = append(o.open, x)
		case x.ends == everyUndo:
			o.open = nil
		case x.ends != "":
			o.open = slices.DeleteFunc(o.open, func(y ownMove) bool { return y.opens == x.ends })
		}
	}
	return o.moves, len(o.open) == 0 && (o.moves == 0 || sent > o.until)
}
