package probes

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// beat is something that the pacer does at one moment.
type beat struct {
	at    int64 // nanoseconds since the run's start
	late  time.Duration
	shots []scenarios.Shot // that leave together
	crew  *crew            // of a volley; nil: shots holds a single one
	ready bool             // it readies the crew, the shots leave later
}

// agenda is the plan as the pacer needs it: volleys gathered into one beat, and
// in front of each a beat that opens connections for it.
func agenda(p scenarios.Plan) []beat {
	var beats []beat
	volleys := map[int32]int{}
	for _, s := range p.Shots {
		if i, ok := volleys[s.Volley]; ok && s.Volley != 0 {
			beats[i].shots = append(beats[i].shots, s)
			continue
		}
		b := beat{at: s.At, late: s.Late, shots: []scenarios.Shot{s}}
		if s.Volley != 0 {
			b.crew = &crew{hold: make(chan struct{})}
			volleys[s.Volley] = len(beats)
		}
		beats = append(beats, b)
	}
	return withReadying(beats)
}

// withReadying puts the readying beats in their places.
func withReadying(beats []beat) []beat {
	var early []beat
	for _, b := range beats {
		if b.crew != nil {
			lead := 100*time.Millisecond + time.Duration(len(b.shots))*time.Millisecond
			early = append(early, beat{at: max(0, b.at-int64(lead)), shots: b.shots, crew: b.crew, ready: true})
		}
	}
	sorted := make([]beat, 0, len(beats)+len(early))
	for _, b := range beats {
		for len(early) > 0 && early[0].at <= b.at {
			sorted = append(sorted, early[0])
			early = early[1:]
		}
		sorted = append(sorted, b)
	}
	return sorted
}
