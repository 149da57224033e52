package assertions

import "sort"

// grid finds where the windows of a fixed-window limiter begin. The windows of
// all keys lie on one grid, whose phase is not known: a beginning a stands for
// all a + kW. Two things speak against a phase:
//
//   - Some window [a, a+W) of its certainly holds more than N: all a in
//     (First-W, Sent] of requests that together cost more.
//   - A refusal lies for certain in a window [a, a+W) in which N cannot have
//     been spent: a is later than the end of the request that would have made
//     it full, and the refusal's whole interval is inside.
//
// When they speak against all, no grid explains the record; what is left over
// is where the windows begin.
type grid struct {
	window, short int64 // ticks: the grid's, and how long a window lasts at least
	limit         int64 // cost
	drift         int64 // parts per million by which the limiter's clock may run differently
	origin        int64 // ticks: where phases are taken; drift grows from here
	bad           circle
	proof         []objection // those that spoke against something new, in the order of time
	missing       int64       // phases left, when last counted
}

// objection is what speaks against some phases.
type objection struct {
	span     // on the line
	seq      int64
	refusal  bool
	from, to int64 // ticks: the requests behind it
	cost     int64 // that is certainly in the window, or that may be at most
}

// gridKey is what is known of one key under a grid.
type gridKey struct {
	alive []held  // certain admissions that may share a window with the next one, by Sent
	gone  []spent // ended spenders by First
	total int64   // cost of all that have ended
	out   int64   // cost of spenders in flight
}

// spent is a spender that has ended, and the cost of all that ended before it.
type spent struct{ at, before int64 }

func newGrid(window, limit, drift, origin int64) *grid {
	return &grid{window: window, short: window - share(window, drift), limit: limit, drift: drift, origin: origin,
		bad: circle{length: window}, missing: window}
}

func (k *gridKey) spend(cost int64) { k.out += cost }

// spent tells that a spender has ended; admitted is what it was certainly let in for.
func (g *grid) spent(k *gridKey, sent, t, cost, admitted, seq int64) {
	k.out -= cost
	old := sort.Search(len(k.gone), func(i int) bool { return k.gone[i].at > t-g.short })
	k.gone = append(k.gone[:0], k.gone[old:]...)
	k.gone = append(k.gone, spent{t, k.total})
	k.total += cost
	if admitted > 0 && t-sent < g.short {
		g.admitted(k, sent, t, admitted, seq)
	}
}

func (g *grid) admitted(k *gridKey, sent, t, cost, seq int64) {
	open := t - g.short
	k.alive = keep(k.alive, open, held{sent, cost})
	var sum int64
	for i := len(k.alive) - 1; i >= 0; i-- {
		if sum += k.alive[i].cost; sum > g.limit {
			g.object(objection{span: span{open, k.alive[i].at}, seq: seq, from: k.alive[i].at, to: t, cost: sum})
			return
		}
	}
}

// refused tells of a refusal, which must have met a window with too little left.
func (g *grid) refused(k *gridKey, sent, t, cost, seq int64) {
	need := g.limit - cost + 1 - k.out
	if need <= 0 {
		return
	}
	latest := t - g.short
	// The last one from which on enough was spent.
	i := sort.Search(len(k.gone), func(i int) bool { return k.total-k.gone[i].before < need }) - 1
	if i >= 0 {
		latest = max(latest, k.gone[i].at)
	}
	g.object(objection{span: span{latest, sent}, seq: seq, refusal: true, from: latest, to: t, cost: g.limit - cost})
}

// object takes phases out. What was seen far from the origin says less, since
// the limiter's clock may have drifted against ours.
func (g *grid) object(o objection) {
	blur := g.blur(o)
	g.bad.add(o.lo+blur, o.hi-blur)
	if _, left := g.bad.gap(); left < g.missing {
		g.missing = left
		g.proof = append(g.proof, o)
	}
}

// blur is by how much the phases of an objection may have drifted since the origin.
func (g *grid) blur(o objection) int64 {
	if g.drift == 0 {
		return 0
	}
	return share(abs(o.hi-g.origin), g.drift) + 1
}

// forget begins anew at t: phases before and after do not compare.
func (g *grid) forget(t int64) {
	if g.bad.full() {
		return
	}
	g.bad.spans, g.origin, g.missing, g.proof = nil, t, g.window, nil
}

// unknown: a window may have been filled until t by what we did not see.
func (k *gridKey) unknown(t, limit int64) {
	k.gone = append(k.gone, spent{t, k.total})
	k.total += limit
	k.alive = k.alive[:0]
}

// keep is a list of holds by time with h taken in and those up to open left out.
func keep(list []held, open int64, h held) []held {
	i := sort.Search(len(list), func(i int) bool { return list[i].at > open })
	list = append(list[:0], list[i:]...)
	// Ends come in order, starts almost: the place is near the back.
	j := len(list)
	list = append(list, held{})
	for ; j > 0 && list[j-1].at > h.at; j-- {
		list[j] = list[j-1]
	}
	list[j] = h
	return list
}

func abs(x int64) int64 { return max(x, -x) }

// cover is a small set of objections that together speak against every phase.
func (g *grid) cover() []objection {
	var chosen []objection
	done := circle{length: g.window}
	for !done.full() {
		best, most := -1, int64(0)
		_, left := done.gap()
		for i, o := range g.proof {
			try := circle{length: g.window, spans: append([]span(nil), done.spans...)}
			blur := g.blur(o)
			try.add(o.lo+blur, o.hi-blur)
			if _, now := try.gap(); left-now > most {
				best, most = i, left-now
			}
		}
		if best < 0 {
			break // it is not full
		}
		blur := g.blur(g.proof[best])
		done.add(g.proof[best].lo+blur, g.proof[best].hi-blur)
		chosen = append(chosen, g.proof[best])
	}
	return chosen
}
