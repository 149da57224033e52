package probes

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// dense is how a phase begins.
type dense struct {
	shot scenarios.Shot // the first
	n    int            // shots within its first millisecond
}

// foresee plans that connections are opened before a phase whose requests are so close
// together that the first of them will not be answered when the next ones are due.
func (f *fast) foresee() {
	phases := make([]dense, len(f.run.plan.Phases))
	for i := range f.beats {
		b := &f.beats[i]
		if b.crew != nil || b.attack != nil || b.shots[0].Apart {
			continue
		}
		d := &phases[b.phase]
		if d.n == 0 {
			d.shot = b.shots[0]
		}
		if b.at-d.shot.At <= int64(time.Millisecond) {
			d.n++
		}
	}
	for _, d := range phases {
		if d.n < 2 {
			continue
		}
		f.at(max(0, d.shot.At-int64(notice(d.n))), func() { f.loop.Ready(f.place(d.shot), min(2*d.n, mostForeseen)) }, nil)
	}
}

// mostForeseen is how many connections are opened ahead at most.
const mostForeseen = 64
