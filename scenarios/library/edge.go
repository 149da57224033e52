package library

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func edge() Trap {
	return Trap{
		Name: "edge", Says: "a drained key polled until more is admitted, then all it has asked for just before and just after that comes again: it is not twice as much",
		Finds: []Kind{Edges, OpenedEdges}, Keys: 1, Asks: hasEdges, Regular: true, unfit: tooQuick,
		phases: func(d *design) track { return d.attack("edge", scenarios.TacticBoundary) },
	}
}

// pilot is for invented keys: of given ones it would take its turn, and edge
// takes its windows as well.
func pilot() Trap {
	return Trap{
		Name: "pilot", Says: "the same at the end of the time that a full key's first request may have opened",
		Finds: []Kind{OpenedEdges}, Keys: 1, Asks: hasEdges, Regular: true,
		unfit: func(d *design) string {
			if d.c.Keys > 0 {
				return "" // it has nothing to fire, and loses nothing
			}
			return tooQuick(d)
		},
		phases: func(d *design) track {
			if d.c.Keys > 0 {
				return track{}
			}
			return d.attack("pilot", scenarios.TacticPilot)
		},
	}
}

// hasEdges: there must be no moments at which twice the number passes, and they
// can be looked for. Windows of N are almost a bucket of N, and let 2N pass
// around an edge.
func hasEdges(l scenarios.Limit) bool {
	switch l.Contract {
	case "", scenarios.TokenBucket, scenarios.GCRA, scenarios.Nginx, scenarios.Lumps, scenarios.SlidingLog, scenarios.SlidingCounter:
		return l.Size() >= 2 && l.Size() <= scenarios.MostAttacked
	}
	return false
}

// tooQuick says so where two bursts around an edge would not stand out: the edge
// is found to within two round trips and a poll, and the volleys on its two sides
// are answered that much apart and two round trips more.
func tooQuick(d *design) string {
	volleys := 2 * time.Duration(d.size) * scenarios.RequestTime
	least := 5*d.c.RTT + time.Duration(d.size)*d.token/50 + volleys + 5*time.Millisecond
	if time.Duration(d.size-1)*d.token >= least {
		return ""
	}
	return fmt.Sprintf("time between two edges (%v, and with this round trip it takes %v)", time.Duration(d.size)*d.token, least)
}

// attack is one of the tactics, in each of its ways: on as many keys side by
// side, or else in as many rounds. The longer way is for refills in lumps of
// less than the burst, which a sliding window does not look like.
func (d *design) attack(name string, tactic scenarios.Tactic) track {
	ways := 1
	if has, _ := d.limit.Contract.Numbers(); tactic == scenarios.TacticBoundary && has.Burst {
		ways = 2
	}
	p := scenarios.Phase{Name: name, Attack: tactic, Rounds: ways, Keys: scenarios.Keys{Fresh: 1}}
	if d.c.Keys == 0 {
		p.Rounds, p.Keys.Fresh = 1, ways
	}
	if p.Keys.Fresh > 1 {
		p.Every = 150*time.Millisecond + time.Duration(d.drain())*scenarios.RequestTime
	}
	t := track{phases: []scenarios.Phase{p}}
	for n := range p.Keys.Fresh {
		a := scenarios.Attack{Tactic: tactic, Rounds: p.Rounds, Turn: n, Size: d.size, Token: d.token}
		t.length = max(t.length, longer(time.Duration(n)*p.Every, a.Longest()))
	}
	return t
}
