package defect

import (
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
)

// appointment is what a key has been told, in nanoseconds on the clock that is
// decided by.
type appointment struct {
	At    int64 // when it may come back, as told last; 0: nothing that it has not obeyed already
	Until int64 // when it is no longer locked out; 0: it is not
}

// obeyed is an algorithm that refuses a client once more that comes back when it
// was told to. Who comes earlier is decided on as ever: only the telling is wrong.
type obeyed struct {
	noting[appointment]
	late    time.Duration // after the moment told, up to which it is refused in any case; below 0: it is not
	penalty time.Duration // that it is locked out for then; 0: it is not
	told    func(d limiter.Decision, wall int64) int64
}

func (a obeyed) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*noted[appointment])
	keeps := k.Note.At != 0 && now >= k.Note.At
	if locked := now < k.Note.Until; locked || keeps && now <= k.Note.At+int64(a.late) {
		if _, err := a.Algorithm.Decide(k.State.Clone(), now, cost); err != nil {
			return limiter.Decision{}, err
		}
		d := refusal(a.Algorithm, k.State, now)
		if d.Wait = time.Duration(k.Note.At - now + 1 + int64(a.late)); locked {
			d.Wait = time.Duration(k.Note.Until - now)
		} else {
			a.punish(&k.Note, &d, now)
		}
		return d, nil
	}
	d, err := a.Algorithm.Decide(k.State, now, cost)
	switch {
	case err != nil:
	case d.Admitted:
		k.Note = appointment{}
	case keeps:
		a.punish(&k.Note, &d, now)
	case d.Wait >= 0:
		k.Note.At = now + int64(saturated(a.told(d, now), time.Second))
	}
	return d, err
}

// punish refuses a client that has come when it was told. The next wait that it
// is told is a good one: else it would never get in.
func (a obeyed) punish(n *appointment, d *limiter.Decision, now int64) {
	n.At = 0
	if a.penalty > 0 {
		d.Wait = max(d.Wait, a.penalty)
		n.Until = now + int64(d.Wait)
	}
}

// Forgettable is what was told nothing, or has not come in time to be refused.
func (a obeyed) Forgettable(s limiter.State, now int64) bool {
	n := s.(*noted[appointment]).Note
	return now >= n.Until && (n.At == 0 || now > n.At+int64(max(a.late, 0))) && a.noting.Forgettable(s, now)
}
