package assertions

import (
	"fmt"
	"strings"

	"github.com/ratehammer/ratehammer/results"
)

// CheckOwnClock is the id of what happened to the clocks of hammer itself.
const CheckOwnClock = "run.clock"

// ownClock is what happened to our own clocks: the wall clock was moved, which nothing
// rests on, or the machine was suspended, which the monotonic clock does not show.
type ownClock struct {
	marks []results.Mark // the first of them
	more  int
}

func (o *ownClock) hear(marks []results.Mark) {
	const most = 3
	for _, m := range marks {
		switch {
		case m.Kind != results.MarkWall && m.Kind != results.MarkSleep:
		case len(o.marks) == most:
			o.more++
		default:
			o.marks = append(o.marks, m)
		}
	}
}

// tell says what happened; ok: something did.
func (o *ownClock) tell() (f results.Finding, ok bool) {
	f = results.Finding{Check: CheckOwnClock, Status: results.Kept, Level: results.Info}
	if len(o.marks) == 0 {
		return f, false
	}
	f.FromNS, f.ToNS = o.marks[0].At, o.marks[len(o.marks)-1].To
	var parts []string
	tears := false
	for _, m := range o.marks {
		tears = tears || m.Tears()
		if m.Kind == results.MarkSleep {
			parts = append(parts, fmt.Sprintf("this machine was suspended for %s at %s", duration(m.Size), instant(m.At)))
			continue
		}
		parts = append(parts, fmt.Sprintf("hammer's own wall clock was moved by %s at %s", duration(m.Size), instant(m.At)))
	}
	f.Text = strings.Join(parts, ", ")
	if o.more > 0 {
		f.Text += fmt.Sprintf(", and %s more", plural(int64(o.more), "time"))
	}
	f.Text += "; all moments are of the monotonic clock, so that none changes by it"
	if tears {
		f.Text += ", and since that may have stood still meanwhile, nothing is concluded across it"
	}
	return f, true
}
