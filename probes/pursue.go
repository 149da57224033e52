package probes

import (
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// pursue fires an attack: what its attacker says, when it says so, unless an
// answer is there first. It is the one part of a run that waits for answers;
// what it fires is due at a moment all the same, and missed when it is late.
func (r *run) pursue(a scenarios.Attack) {
	defer r.flying.Done()
	answers := make(chan scenarios.Answer, a.Most())
	attacker := a.Begin()
	for {
		s, ok := attacker.Next()
		if !ok {
			return
		}
		select {
		case <-r.ctx.Done():
			return
		case answer := <-answers:
			attacker.Heard(answer)
		case <-time.After(time.Duration(s.At-r.clk.now()) - notice(s.Size)):
			r.salvo(a, attacker.Take(), answers)
		}
	}
}

// notice is how long before its moment a volley is made ready: each of its
// requests takes a connection.
func notice(n int) time.Duration {
	if n < 2 {
		return 0
	}
	return 100*time.Millisecond + time.Duration(n)*time.Millisecond
}

// salvo sends a salvo at its moment, and its answers into the channel.
func (r *run) salvo(a scenarios.Attack, s scenarios.Salvo, answers chan<- scenarios.Answer) {
	if s.Size == 0 {
		return
	}
	r.planned(a.Phase, s.Size)
	b := beat{at: s.At, crew: &crew{hold: make(chan struct{})}}
	for i := range s.Size {
		b.shots = append(b.shots, scenarios.Shot{Seq: r.seq.Add(1), At: s.Due(i), Phase: a.Phase, Key: a.Key, Cost: 1, Late: s.Late})
	}
	b.crew.told = func(h *results.Hit) { answers <- answer(s.Number, h) }
	r.flying.Add(s.Size)
	r.muster(b)
	r.sleepUntil(s.At)
	close(b.crew.hold)
}

// answer is what a hit tells an attacker; nil: the shot was missed.
func answer(salvo int, h *results.Hit) scenarios.Answer {
	if h == nil {
		return scenarios.Answer{Salvo: salvo}
	}
	return scenarios.Answer{Salvo: salvo, Sent: h.Sent, First: h.First,
		Admitted: h.Outcome == results.Admitted, Limited: h.Outcome == results.Limited}
}

// planned counts requests that the plan did not hold.
func (r *run) planned(phase int32, n int) {
	r.progress.Planned.Add(int64(n))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[phase].Planned += int64(n)
}
