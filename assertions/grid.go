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
//
// Where a promise leaves that open, each key may have a grid of its own, such as
// one whose phase is a hash of the key. Then what is seen of a key speaks against
// phases of that key alone, and some key must have none left. What all of them
// say together is kept beside it, since most limiters have one grid for all.
type grid struct {
	window, short int64     // ticks: the grid's, and how long a window lasts at least
	limit         int64     // cost
	phaseSet                // that are left if all keys have the same grid
	apart         bool      // each key may have one of its own
	off           *phaseSet // those of a key that has none left; nil: each key has some
	turn          int       // how often all began anew
}

// gridKey is what is known of one key under a grid.
type gridKey struct {
	alive []held    // certain admissions that may share a window with the next one, by Sent
	gone  []spent   // ended spenders by First
	total int64     // cost of all that have ended
	out   int64     // cost of spenders in flight
	own   *phaseSet // of the key's own grid; nil: any, or there is none
	turn  int       // of the grid, when own began
}

// spent is a spender that has ended, and the cost of all that ended before it.
type spent struct{ at, before int64 }

func newGrid(window, limit, drift, origin int64) *grid {
	return &grid{window: window, short: window - share(window, drift), limit: limit,
		phaseSet: newPhaseSet(window, drift, origin)}
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
			g.object(k, objection{span: span{open, k.alive[i].at}, seq: seq, from: k.alive[i].at, to: t, cost: sum})
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
	g.object(k, objection{span: span{latest, sent}, seq: seq, refusal: true, from: latest, to: t, cost: g.limit - cost})
}

// object takes phases out of all keys' grid, and of the key's own. Drift counts
// for the latter only from the first that is heard of it.
func (g *grid) object(k *gridKey, o objection) {
	g.phaseSet.object(o)
	if !g.apart || g.off != nil {
		return
	}
	if k.own == nil || k.turn != g.turn {
		own := newPhaseSet(g.window, g.drift, o.hi)
		k.own, k.turn = &own, g.turn
	}
	if k.own.object(o); k.own.bad.full() {
		g.off = k.own
	}
}

// refuted reports whether no phase is left, or none of a stretch if one is given.
func (g *grid) refuted(only *closed) bool {
	if g.apart {
		return g.off != nil
	}
	return g.empty(only)
}

// cover is a small set of objections that refute it.
func (g *grid) cover(only *closed) []objection {
	if g.off != nil {
		return g.off.cover(only)
	}
	return g.phaseSet.cover(only)
}

// forget begins anew at t: phases before and after do not compare.
func (g *grid) forget(t int64) {
	if g.refuted(nil) {
		return
	}
	g.phaseSet = newPhaseSet(g.window, g.drift, t)
	g.turn++
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
