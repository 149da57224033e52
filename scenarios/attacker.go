package scenarios

import "time"

// Attacker decides what an attack fires, from the answers it hears. It has no
// clock: whoever drives it waits until the moment that Next gives, unless an
// answer is there first, which is to be told to Heard; at that moment Take
// gives what leaves. Every request of every salvo is told to Heard once,
// however it went. It is not safe for concurrent use.
type Attacker struct {
	attack Attack
	next   Salvo
	over   bool
	stage  stage // of next
	round  int   // from 0

	salvos  int // given out
	last    Salvo
	open    int   // of last: requests that are not heard of yet
	granted int   // of last: admitted
	lost    int   // of last: neither admitted nor limited, or not heard of yet
	latest  int64 // moment that is surely over: of an answer, or of what was waited for

	refused int64 // when the last refused request since the key was last drained was sent; 0: none was
	polling int   // number of the first salvo that polls
	until   int64 // when an edge is given up
	edge    span  // in it a window or a lump began, of which one token is taken
	period  time.Duration
	trips   time.Duration // sum of the round trips of refusals, which no queue holds back
	counted int           // of them
}

// stage is what a salvo is for.
type stage uint8

const (
	draining stage = iota // the key is emptied
	seeking               // it is polled until something is there again
	counting              // what came at once is taken, which tells how much comes at a time
	opening               // one request opens a window
	before                // all that the window still has is taken
	after                 // and all that the next one has
)

// Begin starts the attack.
func (a Attack) Begin() *Attacker {
	at := &Attacker{attack: a}
	if a.Tactic == TacticPilot {
		at.plan(opening, a.At, 1)
	} else {
		at.plan(draining, a.At, a.drain())
	}
	return at
}

// Next is what leaves next, and when, if nothing is heard before; ok is false
// when the attack is over.
func (a *Attacker) Next() (s Salvo, ok bool) { return a.next, !a.over }

// Take gives the next salvo out: its moment has come.
func (a *Attacker) Take() Salvo {
	s := a.next
	if s.Size == 0 { // it was waited for long enough
		a.latest = max(a.latest, s.At)
		a.proceed()
		return s
	}
	a.last, a.open, a.granted, a.lost = s, s.Size, 0, s.Size
	if a.stage == before {
		a.plan(after, a.edge.to+int64(a.period+a.blur()), a.attack.volley())
		return s
	}
	if a.stage != seeking {
		a.refused = 0
	}
	a.next = Salvo{At: s.Due(s.Size-1) + int64(a.patience())}
	return s
}

// Heard tells of an answer.
func (a *Attacker) Heard(h Answer) {
	polled := a.stage == seeking && h.Salvo >= a.polling
	if h.Admitted || h.Limited {
		a.latest = max(a.latest, h.First)
	}
	if h.Limited {
		a.trips += time.Duration(h.First - h.Sent)
		a.counted++
		if polled || h.Salvo == a.last.Number {
			a.refused = max(a.refused, h.Sent)
		}
	}
	switch {
	case a.over:
	case polled && h.Admitted && a.refused != 0 && h.Sent >= a.refused:
		a.found(span{a.refused, h.First})
	case h.Salvo == a.last.Number:
		a.count(h)
	}
}

// count takes an answer to the last salvo, and goes on when it was the last.
func (a *Attacker) count(h Answer) {
	a.open--
	if h.Admitted {
		a.granted++
	}
	if h.Admitted || h.Limited {
		a.lost--
	}
	if a.open == 0 && a.next.Size == 0 {
		a.proceed()
	}
}

// proceed goes on when the last salvo is answered, or was waited for.
func (a *Attacker) proceed() {
	a.latest = max(a.latest, a.last.Due(a.last.Size-1)) // all of it may have been missed
	switch a.stage {
	case draining:
		a.seek()
	case seeking:
		a.poll()
	case counting:
		a.measured()
	case opening:
		a.opened()
	case after:
		a.nextRound()
	}
}

// nextRound goes on to another edge, or ends.
func (a *Attacker) nextRound() {
	a.round++
	switch {
	case a.round >= a.attack.Rounds:
		a.over = true
	case a.attack.Tactic == TacticPilot:
		w := a.attack.window()
		a.plan(opening, a.latest+int64(w+w/50), 1)
	default:
		a.seek()
	}
}

// plan says what leaves next. An attack that has no time left is over: how long
// it may take was promised by the plan, and a slow network does not change that.
func (a *Attacker) plan(s stage, at int64, n int) {
	if at > a.attack.At+int64(a.attack.Longest()) {
		a.over = true
		return
	}
	a.salvos++
	late := time.Second
	if n == 1 {
		late = 100 * time.Millisecond
	}
	a.stage, a.next = s, Salvo{Number: a.salvos, At: at, Size: n, Late: late}
}
