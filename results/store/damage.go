package store

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// Damage is a piece of the record that the folder does not hold, or not whole.
// Hits that were sent, and marks that began, anywhere in the span may be
// missing, so no window that touches it can be judged.
type Damage struct {
	File string // name inside the run's folder
	Text string // what is wrong with it
	From int64  // nanoseconds since the run's start: nothing lost was sent before
	To   int64  // nothing lost ended after; results.Never: it reaches to the end of the run
}

// Error says what is lost in one sentence.
func (d Damage) Error() string {
	to := "the end"
	if d.To != results.Never {
		to = time.Duration(d.To).String()
	}
	return fmt.Sprintf("%s %s: the record has a hole from %v to %s", d.File, d.Text, time.Duration(d.From), to)
}
