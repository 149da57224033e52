package scenarios

import (
	"fmt"
	"time"
)

// edges are the attacks on the moments at which more is admitted again, of
// contracts that must not have any, or only smaller ones. Windows of N are their
// target: they are almost a bucket of N, and let 2N pass around an edge.
func (d *designer) edges() []track {
	loses := "windows, which admit twice their number around an edge"
	switch d.limit.Contract {
	case "", TokenBucket, GCRA, Nginx, Lumps, SlidingLog, SlidingCounter:
	default:
		return nil
	}
	if d.size < 2 || d.size > mostAttacked {
		return nil
	}
	if least := d.clear(); time.Duration(d.size-1)*d.token < least {
		d.left = append(d.left, Omission{Track: "edge", Loses: loses,
			Why: fmt.Sprintf("time between two edges (%v, and with this round trip it takes %v)", time.Duration(d.size)*d.token, least)})
		return nil
	}
	edge := d.attack("edge", loses, TacticBoundary)
	if d.c.Keys > 0 { // it takes the pilot's windows as well, and the pilot would take its turn
		return []track{edge}
	}
	return []track{edge, d.attack("pilot", loses+", if a request opens them", TacticPilot)}
}

// clear is how long a burst must take to come for two bursts around an edge to
// stand out: the edge is found to within two round trips and a poll, and the
// volleys on its two sides are answered that much apart and two round trips more.
func (d *designer) clear() time.Duration {
	volleys := 2 * time.Duration(d.size) * requestTime
	return 5*d.c.RTT + time.Duration(d.size)*d.token/50 + volleys + 5*time.Millisecond
}

// attack is one of the tactics, in each of its ways: on as many keys side by
// side, or else in as many rounds. The longer way is for refills in lumps of
// less than the burst, which a sliding window does not look like.
func (d *designer) attack(name, loses string, tactic Tactic) track {
	ways := 1
	if has, _ := d.limit.Contract.Numbers(); tactic == TacticBoundary && has.Burst {
		ways = 2
	}
	p := Phase{Name: name, Attack: tactic, Rounds: ways, Keys: Keys{Fresh: 1}}
	if d.c.Keys == 0 {
		p.Rounds, p.Keys.Fresh = 1, ways
	}
	if p.Keys.Fresh > 1 {
		p.Every = 150*time.Millisecond + time.Duration(d.drain())*requestTime
	}
	t := track{name: name, loses: loses, keys: 1, phases: []Phase{p}}
	for n := range p.Keys.Fresh {
		a := Attack{Tactic: tactic, Rounds: p.Rounds, Turn: n, Size: d.size, Token: d.token}
		t.length = max(t.length, longer(time.Duration(n)*p.Every, a.Longest()))
	}
	return t
}
