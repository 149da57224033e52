package limiter

import (
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// GCRA is the generic cell rate algorithm of ITU-T I.371, as virtual scheduling:
// it knows of a key only its theoretical arrival time, the moment at which the
// next request would come if all came evenly. A key takes 16 bytes.
//
// With the emission interval Te = 1/r and the tolerance tau = (b-1)/r it admits
// at most f(T) = floor((tau + T)/Te) + 1 = floor(b + rT) in a closed window of
// length T: each admission of cost 1 moves the arrival time on by Te; at the
// first in the window it is at least the window's start, and before the last it
// was at most tau after the window's end, so there are at most (tau + T)/Te
// steps between them. It decides request by request as the token bucket does.
//
// If now is earlier than a moment seen before, the time that was booked is
// further away: nobody is admitted who would not have been, and some wait until
// the clock has come up again.
type GCRA struct {
	schedule
	promise scenarios.Limit
}

func gcra() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "gcra",
			Settings: "burst=TOKENS,rate=TOKENS/TIME",
			Example:  "gcra{burst=10,rate=5/1s}",
			Text:     "The generic cell rate algorithm: remembers one moment, decides as the token bucket; at most burst + rate*T pass in any time T.",
		},
		build: burstAndRate(NewGCRA),
	}
}

// NewGCRA gives the algorithm with an emission interval of 1/rate and a
// tolerance of (burst-1)/rate. It returns an error if the two are no limit, or
// if burst tokens are more than MaxLevel units.
func NewGCRA(burst int64, rate scenarios.Rate) (*GCRA, error) {
	p := scenarios.Limit{Contract: scenarios.GCRA, Burst: burst, Rate: rate}
	s, err := checked("gcra", p, burst)
	if err != nil {
		return nil, err
	}
	return &GCRA{schedule: schedule{s}, promise: p}, nil
}

// Promise is the burst and the rate.
func (g *GCRA) Promise() scenarios.Limit { return g.promise }

// Fresh expects the next request now.
func (g *GCRA) Fresh(now int64) State { return &Slot{At: now} }

// Decide books the cost if it conforms. A refusal changes nothing.
func (g *GCRA) Decide(s State, now, cost int64) (d Decision, err error) {
	if cost < 1 || cost > g.promise.Burst {
		return d, &CostError{Cost: cost, Most: g.promise.Burst}
	}
	k := s.(*Slot)
	before := g.room(*k, now)
	_, d.Wait, d.Admitted = g.book(k, now, cost*g.unit)
	g.tell(&d, before, *k, now, g.promise.Burst)
	return d, nil
}

// View books nothing.
func (g *GCRA) View(s State, now int64) (d Decision) {
	k := *s.(*Slot)
	g.tell(&d, g.room(k, now), k, now, g.promise.Burst)
	return d
}

// Forgettable reports whether the arrival time is over.
func (g *GCRA) Forgettable(s State, now int64) bool { return !s.(*Slot).isAfter(now) }
