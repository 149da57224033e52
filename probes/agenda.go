package probes

import (
	"cmp"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// beat is something that the pacer does at one moment.
type beat struct {
	at     int64 // nanoseconds since the run's start
	phase  int32
	late   time.Duration
	shots  []scenarios.Shot  // that leave together
	crew   *crew             // of a volley; nil: shots holds a single one
	ready  bool              // it readies the crew, the shots leave later
	attack *scenarios.Attack // it begins the attack, which fires by itself; nil: it does not
}

// agenda is the plan as the pacer needs it: volleys gathered into one beat, in
// front of each a beat that opens connections for it, and one for each attack.
func agenda(p scenarios.Plan) []beat {
	var beats []beat
	volleys := map[int32]int{}
	for n, s := range p.Shots {
		if i, ok := volleys[s.Volley]; ok && s.Volley != 0 {
			beats[i].shots = append(beats[i].shots, s)
			continue
		}
		b := beat{at: s.At, phase: s.Phase, late: s.Late, shots: p.Shots[n : n+1 : n+1]}
		if s.Volley != 0 {
			b.crew = &crew{hold: make(chan struct{})}
			volleys[s.Volley] = len(beats)
		}
		beats = append(beats, b)
	}
	early := readying(beats)
	for i, a := range p.Attacks {
		first, _ := a.Begin().Next()
		early = append(early, beat{at: max(0, a.At-int64(notice(first.Size))), phase: a.Phase, attack: &p.Attacks[i]})
	}
	return merged(beats, early)
}

// readying are the beats that open connections for volleys.
func readying(beats []beat) (early []beat) {
	for _, b := range beats {
		if b.crew != nil {
			early = append(early, beat{at: max(0, b.at-int64(notice(len(b.shots)))), phase: b.phase, shots: b.shots, crew: b.crew, ready: true})
		}
	}
	return early
}

// merged are the beats in order, of two at the same moment the early one first.
func merged(beats, early []beat) []beat {
	all := append(early, beats...)
	slices.SortStableFunc(all, func(a, b beat) int { return cmp.Compare(a.at, b.at) })
	return all
}
