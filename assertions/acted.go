package assertions

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// What was done to the server on purpose is on record, with the moments before and
// after. A promise holds across all of it, but for what was declared, and for what
// goes by the wall clock by its own words: windows that lie on the clock's grid move
// with it. What was not answered because the server was not there says nothing of it.

// acted is what was done to the server.
type acted struct {
	marks []results.Mark // clocks and faults, in the order of their ends
	undos []results.Mark
	torn  []results.Mark // our own clock did not show all the time that passed, or the record has a hole
	stuck []results.Mark // what was not taken back
	freed bool           // what was refused wrongly behind moves of the clock is not shown to come from them
	dates bool           // refusals tell moments as dates, which move with the wall clock
}

func (a *acted) hear(b results.Block) {
	for _, m := range b.Marks {
		switch m.Kind {
		case results.MarkClock, results.MarkFault:
			a.marks = append(a.marks, m)
		case results.MarkUndo:
			a.undos = append(a.undos, m)
		case results.MarkStuck:
			a.stuck = append(a.stuck, m)
		default:
			if m.Tears() || m.Kind == results.MarkLost {
				a.torn = append(a.torn, m)
			}
		}
	}
	for i := range b.Hits {
		if ra := b.Hits[i].RetryAfter; !a.dates && ra != "" && strings.Trim(ra, "0123456789. ") != "" {
			a.dates = true
		}
	}
}

// away is how long a server may take to be there again when it was started anew.
const away = int64(2 * time.Second)

// excuses reports whether a request went unanswered because of what was done.
func (a *acted) excuses(h *results.Hit) bool {
	for i, m := range a.marks {
		if m.Kind != results.MarkFault || m.At > h.Done {
			continue
		}
		if h.Sent <= a.over(i) {
			return true
		}
	}
	return false
}

// over is when a server is itself again behind a fault.
func (a *acted) over(i int) int64 {
	m := a.marks[i]
	if restores(m) {
		return settled(m)
	}
	for _, later := range a.marks[i+1:] {
		if restores(later) {
			return settled(later)
		}
	}
	switch {
	case scenarios.Act(m.Act) == scenarios.Command && expected(m).Policy == "": // which may be all of it
		return settled(m)
	case len(a.undos) > 0:
		return a.undos[0].To + away
	}
	return results.Never
}

// clocksIn reports whether a clock was moved in a time.
func (a *acted) clocksIn(from, to int64) bool {
	return slices.ContainsFunc(a.marks, func(m results.Mark) bool {
		return m.Kind == results.MarkClock && m.To >= from && m.At <= to
	})
}

// whole reports whether no window of a limit in a time is doubtful: our own clock went
// on, and that which it may go by was not moved.
func (a *acted) whole(l scenarios.Limit, from, to int64) bool {
	if byWall(l) && a.clocksIn(0, to) {
		return false
	}
	return !slices.ContainsFunc(a.torn, func(m results.Mark) bool { return m.To >= from && m.At <= to })
}

// byWall reports whether a limit may go by the wall clock by its own words: its
// windows may lie on a grid of the clock's.
func byWall(l scenarios.Limit) bool {
	switch l.Contract {
	case scenarios.FixedWindow, scenarios.SlidingCounter, scenarios.Lumps, scenarios.Quota:
		return l.Align != scenarios.AlignFirstHit
	}
	return false
}

// moved takes back what is broken about moments that are told by the wall clock,
// where that was moved between them.
func (a *acted) moved(f *results.Finding) {
	told := f.Check == CheckReset || a.dates && strings.HasPrefix(f.Check, "retry-after.")
	if f.Status == results.Broken && told && a.clocksIn(f.FromNS, f.ToNS) {
		f.Status = results.Inconclusive
		f.Text += ", but it tells moments by the wall clock, which was moved meanwhile"
	}
}

// CheckActed is the id of the account of what was done to the server.
const CheckActed = "run.actions"

// tell is the account of what was done; ok: something was.
func (a *acted) tell(limits []scenarios.Limit) (f results.Finding, ok bool) {
	if len(a.marks) == 0 {
		return f, false
	}
	f = results.Finding{Check: CheckActed, Status: results.Kept, Level: results.Info, FromNS: a.marks[0].At, ToNS: a.marks[len(a.marks)-1].To}
	const shown = 3
	var parts []string
	for _, m := range a.marks[:min(shown, len(a.marks))] {
		parts = append(parts, fmt.Sprintf("at %s %s", instant(m.At), m.Text))
	}
	f.Text = strings.Join(parts, ", ")
	if n := len(a.marks) - shown; n > 0 {
		f.Text += fmt.Sprintf(", and %d more until %s", n, instant(f.ToNS))
	}
	switch {
	case len(a.undos) > 0:
		var what []string
		for _, u := range a.undos {
			what = append(what, u.Text)
		}
		f.Text += "; afterwards: " + strings.Join(slices.Compact(what), ", ")
	case len(a.stuck) == 0:
		f.Text += "; nothing of it lasted"
	}
	for _, m := range a.stuck {
		f.Status, f.Level = results.Inconclusive, results.Must
		f.Text += "; NOT TAKEN BACK: " + strings.TrimPrefix(m.Text, "taking back what was done: ")
	}
	if slices.ContainsFunc(limits, byWall) && a.clocksIn(0, results.Never) {
		f.Text += "; windows may lie on the grid of a clock that was moved, so that what came behind the first move is not judged"
	}
	return f, true
}
