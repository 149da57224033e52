package defect

import (
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func persistNone() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "persist",
			Settings: "none",
			Example:  "persist{none}",
			Text:     "What clients have spent is only in the memory of the nodes that ran when it was spent, whatever the store is said to be: once all of these have been restarted, one by one or at once, each client has its full budget again.",
		},
		rows:    []string{"D30"},
		stage:   outside,
		on:      On{Limit: "token-bucket{burst=10,rate=1/1m}", Keeps: true, Deeds: []string{"/restart?how=hard", "/restart?how=hard"}},
		reports: []string{"NVIDIA/nvcf issue 975"},
		apply: func(p *Parts, r *mode.Reader) error {
			r.Require(r.Bool("none"), "none", "is the only form")
			if err := r.Done(); err != nil {
				return err
			}
			p.Volatile = true
			if p.Since != nil {
				p.Algorithm = unwritten{around{p.Algorithm}, p.Since}
			}
			return nil
		},
	}
}

// unwritten is an algorithm that has lost what was written before since: then no
// process remembers it.
type unwritten struct {
	around
	since func() int64
}

// dated is a state with the moment of the last decision on it.
type dated struct {
	State limiter.State
	At    int64
}

func (d *dated) Clone() limiter.State { return &dated{d.State.Clone(), d.At} }

func (w unwritten) Fresh(now int64) limiter.State { return &dated{w.Algorithm.Fresh(now), now} }

func (w unwritten) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*dated)
	if k.At < w.since() {
		k.State = w.Algorithm.Fresh(now)
	}
	d, err := w.Algorithm.Decide(k.State, now, cost)
	k.At = now
	return d, err
}

func (w unwritten) View(s limiter.State, now int64) limiter.Decision {
	k := s.(*dated)
	if k.At < w.since() {
		return w.Algorithm.View(w.Algorithm.Fresh(now), now)
	}
	return w.Algorithm.View(k.State, now)
}

func (w unwritten) Forgettable(s limiter.State, now int64) bool {
	k := s.(*dated)
	return k.At < w.since() || w.Algorithm.Forgettable(k.State, now)
}

// Release passes on to a limiter that wants to know.
func (w unwritten) Release(s limiter.State, now, cost int64) {
	if r, ok := w.Algorithm.(limiter.Releaser); ok {
		r.Release(s.(*dated).State, now, cost)
	}
}
