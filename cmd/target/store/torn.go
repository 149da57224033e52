package store

import (
	"context"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// tearing is a request whose states are read, decided on and written in steps of
// their own, as by a limiter that checks first and counts later. Whoever comes
// between reads the same states, and whoever writes last wins.
type tearing struct {
	from    clock.Instant // when the states were read
	parts   []limiter.Part
	known   []bool // whether there was a state
	gap     time.Duration
	refused int
}

// tear prepares to decide on states as they were at from.
func tear(limits []Limit, asks []Ask, from clock.Instant) *tearing {
	t := &tearing{from: from, known: make([]bool, len(asks))}
	for _, a := range asks {
		l := limits[a.Limit]
		part := limiter.Part{Algorithm: l.Algorithm, Now: l.Now(from), Cost: a.Cost, Apart: l.Apart}
		part.State = l.Algorithm.Fresh(part.Now)
		t.parts = append(t.parts, part)
		t.gap = max(t.gap, l.Gap)
	}
	return t
}

// decide is the second step, with the time that it takes.
func (t *tearing) decide(ctx context.Context) (err error) {
	if t.refused, err = limiter.DecideAll(t.parts); err == nil {
		clock.Sleep(ctx, t.gap)
	}
	return err
}

// writes reports whether the state of an ask has to be kept: not if the key was
// unknown and nothing was spent.
func (t *tearing) writes(i int) bool {
	p := &t.parts[i]
	return t.known[i] || t.refused < 0 || p.Apart || !p.Decision.Admitted
}

// answer says what the decision was made on, which is true of this request
// whatever others have written meanwhile.
func (t *tearing) answer(asks []Ask, at clock.Instant) *Answer {
	a := &Answer{Admitted: t.refused < 0, Refused: t.refused, From: t.from, At: at}
	for i := range t.parts {
		a.Decisions = append(a.Decisions, t.parts[i].Decision)
		a.Moments = append(a.Moments, t.parts[i].Now)
		asks[i].Lease = 0
		if a.Admitted {
			asks[i].Lease = 1
		}
	}
	return a
}

// torn reports whether one of the limits is read and written apart.
func torn(l Limit) bool { return l.Torn }

func tears(limits []Limit, asks []Ask) bool {
	return slices.ContainsFunc(asks, func(a Ask) bool { return limits[a.Limit].Torn })
}

// decideTorn decides on copies, outside of the lock. What it writes does not get
// to a disk.
func (m *memory) decideTorn(ctx context.Context, asks []Ask, settle func(*Answer)) error {
	if slices.ContainsFunc(asks, func(a Ask) bool { return m.cells[a.Limit].next.Load() != nil }) {
		return ErrMoved
	}
	t := tear(m.limits, asks, m.clock.Read())
	for i, a := range asks {
		m.tables[a.Limit].Update(a.Key, func(s limiter.State, known bool) (limiter.State, int64, bool) {
			if t.known[i] = known; known {
				t.parts[i].State = s.Clone()
			}
			return s, t.parts[i].Now, false
		})
	}
	if err := t.decide(ctx); err != nil {
		return err
	}
	for i, a := range asks {
		m.tables[a.Limit].Update(a.Key, func(limiter.State, bool) (limiter.State, int64, bool) {
			if i == len(asks)-1 && settle != nil { // as elsewhere while a key is locked
				settle(t.answer(asks, m.clock.Read()))
			}
			return t.parts[i].State, t.parts[i].Now, t.writes(i)
		})
	}
	return nil
}
