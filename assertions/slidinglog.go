package assertions

import "sort"

// logUpper finds the half-open window [a, a+W) in which most was certainly
// admitted. A request is certainly in it when a <= Sent and First < a+W, that
// is for all a in (First-W, Sent]. So the most at one time is the largest depth
// of these intervals: one pass over their two ends, each of which comes in the
// order in which the sweep tells of it.
type logUpper struct {
	window int64  // ticks
	alive  []held // intervals that are open at the last First-W, by Sent
	depth  int64  // their cost
	most   int64  // the largest depth seen
	from   int64  // ticks: a of that window
	to     int64  // ticks: the First that filled it
	since  int64  // ticks: requests that left earlier count in no window
}

// held is a cost that counts up to, or from, a moment.
type held struct{ at, cost int64 }

// end tells that a request that left at sent was admitted by t.
func (l *logUpper) end(sent, t, cost int64) {
	if cost == 0 || t-sent >= l.window || sent < l.since {
		return
	}
	open := t - l.window // the interval is open here
	before := 0
	for before < len(l.alive) && l.alive[before].at <= open {
		l.depth -= l.alive[before].cost
		before++
	}
	l.alive = keep(l.alive, open, held{sent, cost})
	l.depth += cost
	if l.depth > l.most {
		l.most, l.from, l.to = l.depth, l.alive[0].at, t
	}
}

// forget makes every window begin anew at t.
func (l *logUpper) forget(t int64) { l.alive, l.depth, l.since = l.alive[:0], 0, t }

// logLower counts, at every moment d, the most that may have been admitted in
// (d-W, d]: every request that spends, from when it leaves until its First is W
// old. A refusal was wrong for certain when that count left room for it through
// the whole of its interval.
type logLower struct {
	window int64
	count  int64  // at now
	gone   []held // ended requests by First, those before head being W old
	head   int

	refusals int
	highs    []held // the count at each rise since the oldest refusal in flight, falling, in time order
}

func (l *logLower) advance(t int64) {
	for ; l.head < len(l.gone) && l.gone[l.head].at <= t-l.window; l.head++ {
		l.count -= l.gone[l.head].cost
	}
	if l.head > 32 && l.head > len(l.gone)/2 { // not at each step, which would move all of them
		l.gone = append(l.gone[:0], l.gone[l.head:]...)
		l.head = 0
	}
}

func (l *logLower) spend(t, cost int64) {
	l.advance(t)
	l.count += cost
	l.note(t)
}

func (l *logLower) spent(t, cost int64) {
	l.advance(t)
	l.gone = append(l.gone, held{t, cost})
}

func (l *logLower) refuse(t int64) {
	l.advance(t)
	l.refusals++
	l.note(t)
}

// refused gives the most that may have counted against a refusal at any moment
// of its interval.
func (l *logLower) refused(sent, t int64) int64 {
	l.advance(t)
	i := sort.Search(len(l.highs), func(i int) bool { return l.highs[i].at >= sent })
	most := l.highs[i].cost
	if l.refusals--; l.refusals == 0 {
		l.highs = l.highs[:0]
	}
	return most
}

func (l *logLower) note(t int64) {
	if l.refusals == 0 {
		return
	}
	n := len(l.highs)
	for n > 0 && l.highs[n-1].cost <= l.count {
		n--
	}
	l.highs = append(l.highs[:n], held{t, l.count})
}

// trim drops what no refusal in flight can ask for: none left before oldest.
func (l *logLower) trim(oldest int64) {
	if l.refusals == 0 {
		return
	}
	i := sort.Search(len(l.highs), func(i int) bool { return l.highs[i].at >= oldest })
	l.highs = append(l.highs[:0], l.highs[i:]...)
}
