package library

import (
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// again fires the phases once more in which the promise was broken, on keys that
// were not used: what was an accident of the moment does not happen again. Their
// Rest is since the first one's beginning.
func again(phases []scenarios.Phase) experiment {
	phases = slices.DeleteFunc(slices.Clone(phases), func(p scenarios.Phase) bool {
		return p.Vary.Other != "" // the key that it speaks of is none of theirs
	})
	return experiment{decides: []scenarios.Doubt{scenarios.DoubtRecurs}, Trap: Trap{
		Name: "again", Says: "the requests that broke the promise once more, on keys that were not used before",
		Keys: 1, Asks: func(scenarios.Limit) bool { return len(phases) > 0 },
		phases: func(d *design) (t track) {
			for _, p := range phases {
				p.Name = "again: " + p.Name
				if p.Keys.Of != "" {
					p.Keys.Of = "again: " + p.Keys.Of
				}
				p.At = nil
				t.phases = append(t.phases, p)
				t.length = max(t.length, longer(p.Rest, longer(lasting(d, p), d.c.RTT)))
			}
			return t
		},
	}}
}

// lasting is how long a phase takes.
func lasting(d *design, p scenarios.Phase) (t time.Duration) {
	defer func() { t = longer(t, time.Duration(max(p.Keys.Fresh-1, 0))*p.Every) }()
	switch {
	case p.Pace.Count > 0:
		t = p.Pace.Time(int64(p.Count))
	case p.Attack != scenarios.TacticNone:
		a := scenarios.Attack{Tactic: p.Attack, Rounds: max(p.Rounds, 1), Size: d.size, Token: d.token}
		t = a.Longest()
	}
	for range p.Returns() {
		t = longer(t, d.limit.Longest()*3/2+2*time.Second)
	}
	return t
}
