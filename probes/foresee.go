package probes

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// dense is how a phase begins.
type dense struct {
	shot scenarios.Shot // the first that leaves by itself
	n    int            // of those that do within its first millisecond; no more are counted than matter
}

// foresee plans that connections are opened before a phase whose requests are so close
// together that the first of them will not be answered when the next ones are due.
func (f *fast) foresee() {
	for phase := range f.run.plan.Phases {
		shots := f.run.plan.Shots.Of(func(p int32) bool { return int(p) == phase })
		if d := begins(shots); d.n > 1 {
			f.at(max(0, d.shot.At-int64(notice(d.n))), func() { f.loop.Ready(f.place(d.shot), min(2*d.n, mostForeseen)) }, nil)
		}
	}
}

func begins(shots scenarios.Shots) (d dense) {
	for s := range shots.All() {
		switch {
		case s.Volley != 0 || s.Apart:
			continue
		case d.n == 0:
			d.shot = s
		case d.n == mostForeseen || s.At-d.shot.At > int64(time.Millisecond):
			return d
		}
		d.n++
	}
	return d
}

// mostForeseen is how many connections are opened ahead at most.
const mostForeseen = 64
