package scenarios

import "time"

// What an attack does about edges: it looks for one, learns how far apart they
// are, and strikes at the next. What is known of an edge is a stretch of time:
// it lies between the moment at which the last refused request left and the one
// at which the first admission was there.

// span is a closed stretch of time in which something happened.
type span struct{ from, to int64 }

func (s span) later(d time.Duration) span { return span{s.from + int64(d), s.to + int64(d)} }

// seek begins to poll.
func (a *Attacker) seek() {
	a.polling = a.salvos + 1
	a.until = a.pollAt() + int64(a.attack.search())
	a.stage = seeking
	a.poll()
}

// poll plans the next poll, while there is time.
func (a *Attacker) poll() {
	if at := a.pollAt(); at <= a.until {
		a.plan(seeking, at, 1)
		return
	}
	a.nextRound()
}

// pollAt is when the next poll leaves: a gap behind the one before, and not
// before its answer was there, since each poll behind an edge costs a token of
// the window.
func (a *Attacker) pollAt() int64 {
	return max(a.last.At+int64(a.attack.gap()), a.latest+int64(reaction))
}

// reaction is how soon after an answer the next request can leave.
const reaction = 300 * time.Microsecond

// found goes on from an edge. The quick way strikes at the end of the window
// that has just begun. The thorough one drains the key first.
func (a *Attacker) found(edge span) {
	a.edge = edge
	if a.attack.thorough(a.round) {
		a.plan(counting, edge.to+int64(readying(a.attack.drain())), a.attack.drain())
		return
	}
	a.period = a.attack.window()
	a.strike()
}

// readying is how much notice a volley needs.
func readying(n int) time.Duration { return 10*time.Millisecond + time.Duration(n)*RequestTime }

// measured knows how many came at the edge, k, and so, by the rate, when the
// next will: a window's whole number, or a lump. One at a time means that there
// are no edges. What opens the next window is one request just after the last of
// the lumps that fill the key: it is the edge where that is fixed, and makes one
// where a request does, a moment later.
func (a *Attacker) measured() {
	k := int64(1 + a.granted)
	meanwhile := (a.latest - a.edge.from) / int64(max(a.attack.Token, 1))
	switch {
	case k+int64(a.lost) >= a.attack.Size:
		k = a.attack.Size
	case k-meanwhile < 2:
		a.nextRound()
		return
	}
	a.period = a.attack.Token * time.Duration(k)
	fills := (a.attack.Size + k - 1) / k
	a.edge = a.edge.later(a.period * time.Duration(fills))
	a.ahead(a.edge.to, a.latest)
	a.plan(opening, a.edge.to+int64(a.blur()), 1)
}

// opened knows when a window was opened.
func (a *Attacker) opened() {
	switch {
	case a.granted == 0 && a.lost == 0: // the key was not full
		a.nextRound()
		return
	case a.attack.Tactic == TacticPilot:
		a.period = a.attack.window()
		a.edge = span{a.last.At, a.latest}
	default:
		a.edge.to = a.latest
	}
	a.strike()
}

// strike plans the volley before the end of the window that began at the edge;
// Take plans the one after it. It leaves early enough to be decided in time, and
// earlier in later rounds. What comes too late all the same is no loss: it takes
// tokens of the next window, which the volley after it would have taken.
func (a *Attacker) strike() {
	n := a.attack.volley()
	lead := 2*time.Millisecond + a.blur() + time.Duration(n)*RequestTime/2 + a.trip()*time.Duration(1+a.round)
	lead = min(lead, a.period/4) + time.Duration((n-1)/VolleySize)*VolleyPause
	a.ahead(a.edge.from+int64(a.period-lead), a.latest+int64(reaction))
	a.plan(before, a.edge.from+int64(a.period-lead), n)
}

// ahead puts the edge off by whole periods until at, which moves with it, is
// not before now.
func (a *Attacker) ahead(at, now int64) {
	if p := int64(max(a.period, 1)); at < now {
		a.edge = a.edge.later(time.Duration((now - at + p - 1) / p * p))
	}
}

// blur is how far an edge may be off after a period: a step of the limiter's
// clock, and what two clocks differ by.
func (a *Attacker) blur() time.Duration { return time.Millisecond + a.period/1000 }

// trip is the mean round trip seen.
func (a *Attacker) trip() time.Duration {
	if a.counted == 0 {
		return 10 * time.Millisecond
	}
	return a.trips / time.Duration(a.counted)
}

// patience is how long an answer is waited for.
func (a *Attacker) patience() time.Duration { return 100*time.Millisecond + 4*a.trip() }
