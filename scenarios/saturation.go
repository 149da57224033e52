package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Saturation is the part of a plan in which a key is asked as fast as it answers: on each
// of some connections the next request leaves as soon as the one before was answered. How
// many there are the answers say; the plan holds how many at most. Each is due when it
// leaves, so none is late or missed for lack of time.
type Saturation struct {
	At          int64 // nanoseconds since the run's start
	Phase       int32 // index into Plan.Phases
	Key         int32 // index into Plan.Keys
	Cost        int64 // tokens that each request asks for
	Connections int   // at least 1
	Length      time.Duration
	Most        int // requests on all connections together
}

// Until is when nothing more is sent, in nanoseconds since the run's start.
func (s Saturation) Until() int64 { return int64(longer(time.Duration(s.At), s.Length)) }

// String says what it may come to, for a plan.
func (s Saturation) String() string {
	return fmt.Sprintf("as fast as is answered on %d connections for %v, up to %d requests", s.Connections, s.Length, s.Most)
}

// saturated is how many requests a second one key is taken to be sent at most, where no
// count was given.
const saturated = 50_000

// saturation is that of a phase on one of its keys.
func (p *Phase) saturation(phase, key int32, at int64) Saturation {
	most := cmp.Or(p.Count, int(min(int64(p.For/time.Millisecond+1)*saturated/1000, mostShots)))
	return Saturation{At: at, Phase: phase, Key: key, Cost: max(1, p.Cost), Connections: p.Saturate, Length: p.For, Most: most}
}

// mostSaturating is how many connections a key can have that is saturated.
const mostSaturating = 10_000

// checkSaturation says what is wrong with it, or nil.
func (p *Phase) checkSaturation() error {
	switch {
	case p.Saturate == 0 && p.For != 0:
		return errors.New("for is the length of a saturation, and there is none")
	case p.Saturate == 0:
		return nil
	case p.Saturate < 0 || p.Saturate > mostSaturating:
		return fmt.Errorf("saturate %d: give 1 to %d connections", p.Saturate, mostSaturating)
	case p.For <= 0:
		return errors.New("saturate needs an end: add for: 5s")
	case p.Retry != RetryNone:
		return errors.New("saturate and retry exclude each other: each connection asks again whatever it was told")
	case p.Apart:
		return errors.New("saturate and connections: each exclude each other: it is fired on as many connections as it says")
	case !p.Vary.None():
		return errors.New("saturate and vary exclude each other: its requests are all the same")
	}
	return nil
}

// Adaptive reports whether what is fired in the phase depends on the answers.
func (p *Phase) Adaptive() bool {
	return p.Attack != TacticNone || p.Saturate > 0 || p.Returns() > 0
}
