package limiter

import (
	"github.com/ratehammer/ratehammer/scenarios"
)

// Part is the share of one limit in a request that several limits have to admit.
type Part struct {
	Algorithm Algorithm
	State     State    // in: what is remembered; out: what has to be, which may be another value
	Now       int64    // nanoseconds on the clock of this limit
	Cost      int64    // tokens
	Apart     bool     // stays charged where another limit refuses, which is wrong
	Decision  Decision // out: of this limit. If it would have admitted what others refused: Admitted, with nothing spent unless Apart

	was State // as it was before, where others may refuse
}

// DecideAll asks all limits at once and spends nothing unless all of them admit.
// refused is the first part that does not, or -1. All are asked even then, so
// that each tells its Wait: the request is admitted after the longest of them,
// since waiting turns no right limiter's answer from yes to no. With an error,
// that of one Decide, all states are as they were.
//
// A limit that would have admitted is put back to where it was, and does not
// know of the request. One that refuses keeps what it stored of its refusal.
func DecideAll(parts []Part) (refused int, err error) {
	refused = -1
	for i := range parts {
		p := &parts[i]
		if len(parts) > 1 {
			p.was = p.State.Clone()
		}
		if p.Decision, err = p.Algorithm.Decide(p.State, p.Now, p.Cost); err != nil {
			putBack(parts[:i])
			return -1, err
		}
		if !p.Decision.Admitted && refused < 0 {
			refused = i
		}
	}
	if refused >= 0 {
		unspend(parts)
	}
	return refused, nil
}

func putBack(parts []Part) {
	for i := range parts {
		parts[i].State = parts[i].was
	}
}

// unspend puts back those parts that have admitted.
func unspend(parts []Part) {
	for i := range parts {
		p := &parts[i]
		if !p.Decision.Admitted || p.Apart {
			continue
		}
		p.State = p.was
		p.Decision = p.Algorithm.View(p.State, p.Now)
		p.Decision.Admitted = true
	}
}

// Several is the algorithm that admits what all of the given ones admit, and
// spends nothing else. All of them count the same key and the same cost. It
// promises what the first of them does, which should be the one that clients
// are told of: in any time the least of what they allow passes, and no single
// promise says that. There has to be at least one.
func Several(all []Algorithm) Algorithm { return several(all) }

type several []Algorithm

// states are those of the parts, in their order: 16 bytes for each and its own.
type states []State

func (s *states) Clone() State {
	c := make(states, len(*s))
	for i, part := range *s {
		c[i] = part.Clone()
	}
	return &c
}

func (l several) Promise() scenarios.Limit { return l[0].Promise() }

func (l several) Start(now int64) Algorithm {
	started := make(several, len(l))
	for i, a := range l {
		if s, ok := a.(Starter); ok {
			a = s.Start(now)
		}
		started[i] = a
	}
	return started
}

func (l several) Fresh(now int64) State {
	s := make(states, len(l))
	for i, a := range l {
		s[i] = a.Fresh(now)
	}
	return &s
}

func (l several) Decide(s State, now, cost int64) (Decision, error) {
	each := *s.(*states)
	parts := make([]Part, len(l))
	for i, a := range l {
		parts[i] = Part{Algorithm: a, State: each[i], Now: now, Cost: cost}
	}
	refused, err := DecideAll(parts)
	decisions := make([]Decision, len(l))
	for i := range parts {
		each[i], decisions[i] = parts[i].State, parts[i].Decision
	}
	if err != nil {
		return Decision{}, err
	}
	d := Combine(decisions)
	d.Admitted = refused < 0
	return d, nil
}

func (l several) View(s State, now int64) Decision {
	var decisions []Decision
	for i, a := range l {
		decisions = append(decisions, a.View((*s.(*states))[i], now))
	}
	return Combine(decisions)
}

func (l several) Forgettable(s State, now int64) bool {
	for i, a := range l {
		if !a.Forgettable((*s.(*states))[i], now) {
			return false
		}
	}
	return true
}

// Release passes on to those that want to know.
func (l several) Release(s State, now, cost int64) {
	for i, a := range l {
		if r, ok := a.(Releaser); ok {
			r.Release((*s.(*states))[i], now, cost)
		}
	}
}

// Combine is the one answer to a request that stands for those of several
// limits, of which there has to be at least one: the longest Wait, Delay and
// Reset, and the levels of the limit that binds: the one with the longest wait,
// or if none refuses the one with the fewest tokens left.
func Combine(decisions []Decision) Decision {
	d := decisions[0]
	for _, other := range decisions[1:] {
		wait, delay, reset := later(d.Wait, other.Wait), max(d.Delay, other.Delay), later(d.Reset, other.Reset)
		if binds(other, d) {
			d = other
		}
		d.Wait, d.Delay, d.Reset = wait, delay, reset
	}
	for _, other := range decisions {
		if !other.Admitted {
			d.Admitted, d.Delay = false, 0
		}
	}
	return d
}

// later is the longer of two times, of which the longest is an unknown one.
func later[T ~int64](a, b T) T {
	if a < 0 || b < 0 {
		return T(Unknown)
	}
	return max(a, b)
}

func binds(a, b Decision) bool {
	if a.Wait != b.Wait {
		return later(a.Wait, b.Wait) == a.Wait
	}
	return a.Remaining < b.Remaining
}
