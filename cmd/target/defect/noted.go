package defect

import (
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// noted is a state of an algorithm with a note beside it.
type noted[N any] struct {
	limiter.State
	Note N
}

// Clone copies the state, and the note as far as it is a value.
func (n *noted[N]) Clone() limiter.State { return &noted[N]{n.State.Clone(), n.Note} }

// noting is an algorithm that decides as the one it stands around, on states
// with a note, which those who embed it have a use for.
type noting[N any] struct{ around }

// note puts notes beside the states of an algorithm.
func note[N any](a limiter.Algorithm) noting[N] { return noting[N]{around{a}} }

func (a noting[N]) Fresh(now int64) limiter.State {
	return &noted[N]{State: a.Algorithm.Fresh(now)}
}

func (a noting[N]) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	return a.Algorithm.Decide(s.(*noted[N]).State, now, cost)
}

func (a noting[N]) View(s limiter.State, now int64) limiter.Decision {
	return a.Algorithm.View(s.(*noted[N]).State, now)
}

func (a noting[N]) Forgettable(s limiter.State, now int64) bool {
	return a.Algorithm.Forgettable(s.(*noted[N]).State, now)
}

// Release passes on to a limiter that wants to know.
func (a noting[N]) Release(s limiter.State, now, cost int64) {
	if r, ok := a.Algorithm.(limiter.Releaser); ok {
		r.Release(s.(*noted[N]).State, now, cost)
	}
}

// releasing is an algorithm around another one that may want to know when a
// request is done.
type releasing struct{ around }

func (a releasing) Release(s limiter.State, now, cost int64) {
	if r, ok := a.Algorithm.(limiter.Releaser); ok {
		r.Release(s, now, cost)
	}
}

// refusal says no on a level that is not touched.
func refusal(a limiter.Algorithm, s limiter.State, now int64) limiter.Decision {
	d := a.View(s, now)
	d.Admitted, d.Delay = false, 0
	return d
}

// most is how many tokens one request can ask for.
func most(a limiter.Algorithm) int64 {
	_, err := a.Decide(a.Fresh(0), 0, 0)
	if never, ok := err.(*limiter.CostError); ok {
		return never.Most
	}
	return 1
}
