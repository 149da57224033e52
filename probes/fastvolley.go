package probes

import (
	"github.com/ratehammer/ratehammer/probes/wire"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// muster opens the connections that a volley needs. Where its requests are kept back at
// their ends, they are sent up to there.
func (f *fast) muster(b *beat) {
	b.crew.mustered = true
	f.ready(b.shots)
	if !b.shot.Held {
		return
	}
	for _, s := range b.shots {
		if f.run.quit.has(s) {
			f.run.planned(s.Phase, -1)
			continue
		}
		fl := f.aim(s, s.At+int64(s.Late))
		if fl == nil {
			continue
		}
		fl.x.Keep = headEnd(fl.x.Request)
		b.crew.held = append(b.crew.held, held{fl, s.Seq})
		f.loop.Send(&fl.x)
	}
}

// ready opens connections for shots.
func (f *fast) ready(shots []scenarios.Shot) {
	need := map[*wire.Place]int{}
	for i := range shots {
		need[f.place(shots[i])]++
	}
	for p, n := range need {
		f.loop.Ready(p, n)
	}
}

// release sends a volley, or lets go of what is kept back of it.
func (f *fast) release(b *beat) {
	if b.shot.Held && b.crew.mustered {
		for _, h := range b.crew.held {
			if h.waits() {
				f.loop.Release(&h.flight.x)
			}
		}
		b.crew.held = nil
		return
	}
	for _, s := range b.shots {
		if f.run.clk.now()-s.At > int64(s.Late) {
			f.run.miss(s, "")
			continue
		}
		f.shoot(s, s.At+int64(s.Late))
	}
}

// disband gives up what is kept back of a volley that is not to be fired any more.
func (f *fast) disband(c *crew) {
	for _, h := range c.held {
		if h.waits() {
			f.loop.GiveUp(&h.flight.x)
		}
	}
	c.held = nil
}

// held is a shot that is kept back.
type held struct {
	flight *flight
	seq    int64 // of the shot
}

// waits is false where the shot is on record already, and its flight may be another's.
func (h held) waits() bool { return h.flight.shot.Seq == h.seq }

// chase is an attack under way.
type chase struct {
	attack   scenarios.Attack
	attacker *scenarios.Attacker
	due      int64 // when it is next looked at
}

// pursue fires an attack: what its attacker says, when it says so, unless an answer is
// there first.
func (f *fast) pursue(a scenarios.Attack) {
	c := &chase{attack: a, attacker: a.Begin(), due: -1}
	f.look(c)
}

// look plans the next salvo of an attack.
func (f *fast) look(c *chase) {
	s, ok := c.attacker.Next()
	if !ok || f.stopped {
		return
	}
	due := s.At - int64(notice(s.Size))
	if due == c.due {
		return
	}
	c.due = due
	f.at(due, func() {
		if c.due != due {
			return // an answer has changed it
		}
		c.due = -1
		f.salvo(c, c.attacker.Take())
		f.look(c)
	}, nil)
}

// salvo makes a salvo ready and sends it at its moment.
func (f *fast) salvo(c *chase, s scenarios.Salvo) {
	if s.Size == 0 {
		return
	}
	r, a := f.run, c.attack
	r.planned(a.Phase, s.Size)
	var shots []scenarios.Shot
	for i := range s.Size {
		shots = append(shots, scenarios.Shot{Seq: r.seq.Add(1), At: s.Due(i), Phase: a.Phase, Key: a.Key, Cost: 1, Late: s.Late})
	}
	f.ready(shots)
	for len(shots) > 0 {
		n := 1
		for n < len(shots) && shots[n].At == shots[0].At {
			n++
		}
		f.group(c, s, shots[:n])
		shots = shots[n:]
	}
}

// group sends the shots of a salvo that are due together.
func (f *fast) group(c *chase, s scenarios.Salvo, shots []scenarios.Shot) {
	f.at(shots[0].At, func() {
		for _, shot := range shots {
			if f.run.clk.now()-shot.At > int64(shot.Late) {
				f.run.miss(shot, "")
				f.tell(c, answer(s.Number, nil))
				continue
			}
			fl := f.aim(shot, shot.At+int64(shot.Late))
			if fl == nil {
				f.tell(c, answer(s.Number, nil))
				continue
			}
			fl.chase, fl.salvo = c, s.Number
			f.loop.Send(&fl.x)
		}
	}, func() {
		for _, shot := range shots {
			f.run.miss(shot, "")
		}
	})
}

// heard tells an attack what became of one of its requests; h is nil where it was missed.
func (f *fast) heard(fl *flight, h *results.Hit) {
	if fl.chase != nil {
		f.tell(fl.chase, answer(fl.salvo, h))
	}
}

func (f *fast) tell(c *chase, a scenarios.Answer) {
	c.attacker.Heard(a)
	f.look(c)
}
