package virtual

import (
	"container/heap"
	"math/rand/v2"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// assault is an attack under way. Its delays come from a seed of its own, so
// that what else is fired meets the same network with and without it.
type assault struct {
	plan scenarios.Attack
	at   *scenarios.Attacker
	turn int // of its waiting: what was due in an earlier one is not any more
	rng  *rand.Rand
}

// moment is when the client does something that was not planned.
type moment struct {
	at   int64
	turn int // of the assault it waits for; 0: it holds anyway
	by   *assault
	do   func()
}

type moments []moment

func (m moments) Len() int           { return len(m) }
func (m moments) Less(i, j int) bool { return m[i].at < m[j].at }
func (m moments) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *moments) Push(x any)        { *m = append(*m, x.(moment)) }
func (m *moments) Pop() any {
	old := *m
	x := old[len(old)-1]
	*m = old[:len(old)-1]
	return x
}

// attack begins an attack.
func (r *runner) attack(a scenarios.Attack, seed uint64) {
	r.await(&assault{plan: a, at: a.Begin(), rng: rand.New(rand.NewPCG(seed, uint64(a.Key)))}, a.At)
}

// await waits until the assault's next salvo is due, or until it hears something.
func (r *runner) await(a *assault, now int64) {
	a.turn++
	s, ok := a.at.Next()
	if !ok {
		return
	}
	heap.Push(&r.moments, moment{max(s.At, now), a.turn, a, func() { r.fire(a) }})
}

// fire sends the salvo that is due.
func (r *runner) fire(a *assault) {
	s := a.at.Take()
	for i := range s.Size {
		r.seq++
		r.send(arrival{by: a, salvo: s.Number, shot: scenarios.Shot{Seq: r.seq, At: s.Due(i), Phase: a.plan.Phase, Key: a.plan.Key, Cost: 1}}, a.rng)
	}
	r.await(a, s.At)
}

// hear tells the assault of a request's end, when it has come.
func (r *runner) hear(a arrival, h results.Hit) {
	ans := scenarios.Answer{Salvo: a.salvo, Sent: h.Sent, First: h.First,
		Admitted: h.Outcome == results.Admitted, Limited: h.Outcome == results.Limited}
	heap.Push(&r.moments, moment{at: h.Done, by: a.by, do: func() {
		a.by.at.Heard(ans)
		r.await(a.by, h.Done)
	}})
}
