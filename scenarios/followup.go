package scenarios

import (
	"strings"
	"time"
)

// FollowUpPrefix is how the names of the phases begin that are fired after a breach,
// to tell apart what it may come from. What they bring to light is no part of
// the verdict, which stood before they were fired.
const FollowUpPrefix = "follow-up: "

// FollowedBy is the scenario with phases behind its own, the first of them at a
// moment of the run. Their times are since that moment where they have any.
func (s *Scenario) FollowedBy(phases []Phase, at time.Duration) *Scenario {
	all := *s
	all.Phases = append(all.Phases[:len(all.Phases):len(all.Phases)], phases...)
	for i := len(s.Phases); i < len(all.Phases); i++ {
		all.Phases[i] = all.Phases[i].Prefixed(FollowUpPrefix)
		if p := &all.Phases[i]; p.At != nil {
			moment := at + *p.At
			p.At = &moment
		}
	}
	return &all
}

// IsFollowUp reports whether a phase of this name is one of those.
func IsFollowUp(name string) bool { return strings.HasPrefix(name, FollowUpPrefix) }

// Asked is how many of the phases ask whether the promise is kept: those behind
// them are follow-ups.
func (s *Scenario) Asked() int {
	for i, p := range s.Phases {
		if IsFollowUp(p.Name) {
			return i
		}
	}
	return len(s.Phases)
}

// FollowUps is the part of a plan that belongs to the phases from the n-th on.
func (p Plan) FollowUps(n int) Plan {
	later := p
	later.Attacks, later.Floods, later.Actions = nil, nil, nil
	later.Shots = p.Shots.Of(func(phase int32) bool { return int(phase) >= n })
	for _, a := range p.Attacks {
		if int(a.Phase) >= n {
			later.Attacks = append(later.Attacks, a)
		}
	}
	for _, s := range p.Floods {
		if int(s.Phase) >= n {
			later.Floods = append(later.Floods, s)
		}
	}
	return later
}
