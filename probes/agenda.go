package probes

import (
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// beat is something that the pacer does at one moment.
type beat struct {
	at     int64 // nanoseconds since the run's start
	phase  int32
	late   time.Duration
	shot   scenarios.Shot        // that leaves, or the first of those that do
	shots  []scenarios.Shot      // of a volley: all that leave together
	crew   *crew                 // of a volley; nil: a single shot leaves
	ready  bool                  // it readies the crew, the shots leave later
	attack *scenarios.Attack     // it begins the attack, which fires by itself; nil: it does not
	flood  *scenarios.Saturation // it begins this; nil: it does not
}

// together are the shots that leave.
func (b *beat) together() []scenarios.Shot {
	if b.crew == nil {
		return []scenarios.Shot{b.shot}
	}
	return b.shots
}

// agenda is the plan as the pacer needs it: volleys gathered into one beat, in front of
// each a beat that opens connections for it, and one for each attack. It is made as the
// pacer goes through it, and reads ahead by no more than a volley has to be readied before.
type agenda struct {
	shots   *scenarios.Reader
	shot    scenarios.Shot // that comes next
	more    bool           // there is one
	volleys int            // that were not read yet

	read    queue  // shots and volleys, in their order
	early   []beat // that ready volleys, in the order of their moments
	attacks []beat // and what else begins and fires by itself, in the order of their moments
	next    beat
	known   bool // next is
}

func newAgenda(p scenarios.Plan) *agenda {
	a := &agenda{shots: p.Shots.Read(), volleys: p.Shots.Volleys()}
	a.shot, a.more = a.shots.Next()
	for i, x := range p.Attacks {
		first, _ := x.Begin().Next()
		a.attacks = insert(a.attacks, beat{at: max(0, x.At-int64(notice(first.Size))), phase: x.Phase, attack: &p.Attacks[i]})
	}
	for i, x := range p.Floods {
		a.attacks = insert(a.attacks, beat{at: x.At, phase: x.Phase, flood: &p.Floods[i]})
	}
	return a
}

// insert puts a beat behind those that are not later.
func insert(beats []beat, b beat) []beat {
	i := len(beats)
	for i > 0 && beats[i-1].at > b.at {
		i--
	}
	return slices.Insert(beats, i, b)
}

// peek is the next beat, which is valid until done is called; nil: there is none. Of those
// at the same moment the ones that ready something are first.
func (a *agenda) peek() *beat {
	if a.known {
		return &a.next
	}
	for a.more && a.shot.At-a.ahead() <= a.soonest() {
		a.gather()
	}
	switch at := a.soonest(); {
	case len(a.early) > 0 && a.early[0].at == at:
		a.next, a.early = a.early[0], a.early[1:]
	case len(a.attacks) > 0 && a.attacks[0].at == at:
		a.next, a.attacks = a.attacks[0], a.attacks[1:]
	case !a.read.empty():
		a.next = a.read.pop()
	default:
		return nil
	}
	a.known = true
	return &a.next
}

// done goes on to the beat behind the next one.
func (a *agenda) done() { a.known = false }

// ahead is how far is read ahead: a volley may have to be readied.
func (a *agenda) ahead() int64 {
	if a.volleys == 0 {
		return 0
	}
	return int64(notice(scenarios.VolleySize))
}

// soonest is when something is to be done, of what was read.
func (a *agenda) soonest() int64 {
	at := int64(results.Never)
	if len(a.early) > 0 {
		at = a.early[0].at
	}
	if len(a.attacks) > 0 {
		at = min(at, a.attacks[0].at)
	}
	if !a.read.empty() {
		at = min(at, a.read.first().at)
	}
	return at
}

// gather reads the next shot, or the volley that it belongs to.
func (a *agenda) gather() {
	b := beat{at: a.shot.At, phase: a.shot.Phase, late: a.shot.Late, shot: a.shot}
	if b.shot.Volley == 0 {
		a.shot, a.more = a.shots.Next()
		a.read.push(b)
		return
	}
	for a.more && a.shot.Volley == b.shot.Volley {
		b.shots = append(b.shots, a.shot)
		a.shot, a.more = a.shots.Next()
	}
	b.crew = &crew{hold: make(chan struct{})}
	a.volleys--
	a.read.push(b)
	b.at, b.ready = max(0, b.at-int64(notice(len(b.shots)))), true
	a.early = insert(a.early, b)
}

// queue is beats in the order in which they were put in. Its memory is used again.
type queue struct {
	beats []beat
	gone  int // of beats, those that were taken out
}

func (q *queue) empty() bool  { return q.gone == len(q.beats) }
func (q *queue) first() *beat { return &q.beats[q.gone] }

func (q *queue) push(b beat) {
	if q.gone > len(q.beats)/2 {
		q.beats = q.beats[:copy(q.beats, q.beats[q.gone:])]
		q.gone = 0
	}
	q.beats = append(q.beats, b)
}

func (q *queue) pop() beat {
	b := q.beats[q.gone]
	q.gone++
	return b
}
