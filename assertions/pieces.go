package assertions

// piece is a stretch of a curve: for x from lo to hi, both included, its value
// is at + slope*(x-lo). Slopes are never negative.
type piece struct{ lo, hi, at, slope int64 }

func (p piece) value(x int64) int64 { return p.at + p.slope*(x-p.lo) }

// from is what is left of the piece from x on.
func (p piece) from(x int64) piece { return piece{x, p.hi, p.value(x), p.slope} }

// upTo is the piece as far as its value is at most limit; its end is rounded
// up, so that no point is lost. It wants at <= limit.
func (p piece) upTo(limit int64) piece {
	if p.slope > 0 {
		p.hi = min(p.hi, p.lo+ceilDiv(limit-p.at, p.slope))
	}
	return p
}

// curve is a function given by pieces in the order of lo, which have at most
// their ends in common; where there is none it is infinite, and where two meet
// the lesser value counts.
//
// A crossing that is no whole number can only be one of a slope above 1 with
// another. Then the steeper line is lowered until it is one: a curve may come
// out a little less than it should, and never more.
type curve []piece

// add appends a piece that begins no earlier than the last one ends, as part of
// that one where it continues it.
func (c curve) add(p piece) curve {
	n := len(c) - 1
	if n < 0 || c[n].hi < p.lo {
		return append(c, p)
	}
	last := c[n].value(p.lo)
	switch {
	case p.lo == p.hi && last <= p.at:
		return c // a point that the last piece has already
	case c[n].lo == c[n].hi && last >= p.at:
		c[n] = p // the last one was such a point
		return c
	case c[n].slope == p.slope && last == p.at:
		c[n].hi = p.hi
		return c
	}
	return append(c, p)
}

// addLesser appends the lesser of two pieces, which both reach from x to y.
func (c curve) addLesser(p, q piece, x, y int64) curve {
	a, b := p.value(x), q.value(x)
	if a > b || a == b && p.slope > q.slope {
		p, q, a, b = q, p, b, a
	}
	if p.value(y) <= q.value(y) {
		return c.add(piece{x, y, a, p.slope})
	}
	d := p.slope - q.slope
	cross := x + ceilDiv(b-a, d)
	lowered := a - (d*(cross-x) - (b - a))
	return c.add(piece{x, cross, lowered, p.slope}).add(piece{cross, y, q.value(cross), q.slope})
}

// lesser appends to c the lesser of two curves at each point.
func (c curve) lesser(f, g curve) curve {
	i, j := 0, 0
	var p, q piece
	if len(f) > 0 {
		p = f[0]
	}
	if len(g) > 0 {
		q = g[0]
	}
	for i < len(f) && j < len(g) {
		y := min(p.hi, q.hi)
		switch {
		case p.lo < q.lo: // p is alone, up to its end or q's beginning
			y = min(p.hi, q.lo)
			c = c.add(piece{p.lo, y, p.at, p.slope})
			i, p = f.next(i, p, y)
			continue
		case q.lo < p.lo:
			y = min(q.hi, p.lo)
			c = c.add(piece{q.lo, y, q.at, q.slope})
			j, q = g.next(j, q, y)
			continue
		}
		c = c.addLesser(p, q, p.lo, y)
		i, p = f.next(i, p, y)
		j, q = g.next(j, q, y)
	}
	return c.addRest(f, i, p).addRest(g, j, q)
}

// next is what comes behind y, in the piece at i of which p is left, or in the
// one after it.
func (c curve) next(i int, p piece, y int64) (int, piece) {
	switch {
	case y < p.hi:
		return i, p.from(y)
	case i+1 < len(c):
		return i + 1, c[i+1]
	}
	return i + 1, piece{}
}

// addRest appends p, which is left of the piece of f at i, and those behind it.
func (c curve) addRest(f curve, i int, p piece) curve {
	if i == len(f) {
		return c
	}
	c = c.add(p)
	for _, p := range f[i+1:] {
		c = c.add(p)
	}
	return c
}

// both appends the lesser of two pieces that begin at one place.
func (c curve) both(p, q piece) curve {
	y := min(p.hi, q.hi)
	c = c.addLesser(p, q, p.lo, y)
	switch {
	case y < p.hi:
		return c.add(p.from(y))
	case y < q.hi:
		return c.add(q.from(y))
	}
	return c
}

// addUntil appends p as far as it is at most limit.
func (c curve) addUntil(p piece, limit int64) curve {
	if p.at > limit || p.lo > p.hi {
		return c
	}
	return c.add(p.upTo(limit))
}

// addFrom appends the greater of p and least, as far as it is at most limit.
func (c curve) addFrom(p piece, least, limit int64) curve {
	low, high := p.above(least)
	return c.addUntil(low, limit).addUntil(high, limit)
}

// addGreater appends the greater of p and the line x - off, as far as it is at
// most limit.
func (c curve) addGreater(p piece, off, limit int64) curve {
	if p.lo > p.hi {
		return c
	}
	low, high := p.aboveLine(off)
	return c.addUntil(low, limit).addUntil(high, limit)
}

// above is the greater of p and least: a flat piece and what is left of p; a
// piece with lo > hi is none.
func (p piece) above(least int64) (low, high piece) {
	switch {
	case p.at >= least:
		return piece{lo: 1}, p
	case p.value(p.hi) <= least:
		return piece{p.lo, p.hi, least, 0}, piece{lo: 1}
	}
	x := p.lo + ceilDiv(least-p.at, p.slope)
	return piece{p.lo, x, least, 0}, p.from(x)
}

// aboveLine is the greater of p and the line x - off, in the order of x.
func (p piece) aboveLine(off int64) (low, high piece) {
	line := piece{p.lo, p.hi, p.lo - off, 1}
	switch ahead := p.at - line.at; {
	case ahead >= 0 && (p.slope > 0 || p.hi-p.lo <= ahead):
		return p, piece{lo: 1}
	case ahead <= 0 && (p.slope <= 1 || (p.hi-p.lo)*(p.slope-1) <= -ahead):
		return line, piece{lo: 1}
	case p.slope == 0:
		x := p.lo + ahead
		p.hi = x
		return p, line.from(x)
	default:
		x := p.lo + ceilDiv(-ahead, p.slope-1)
		line.hi = x
		return line, p.from(x)
	}
}

// belowLine is the part of p that is at most x - off; ok is false where there is
// none. Its end is rounded up, so that no point is lost.
func (p piece) belowLine(off int64) (part piece, ok bool) {
	ahead := p.lo - off - p.at // of the line
	switch {
	case p.slope == 0:
		p.lo = max(p.lo, p.lo-ahead)
		return p, p.lo <= p.hi
	case ahead < 0:
		return p, false
	case p.slope > 1:
		p.hi = min(p.hi, p.lo+ceilDiv(ahead, p.slope-1))
	}
	return p, true
}

// ceilDiv is a/b rounded up, b positive.
func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }
