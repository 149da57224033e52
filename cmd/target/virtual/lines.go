package virtual

import "slices"

// idleFor is how long a connection is kept that nothing is sent on, as the real
// client keeps it, in nanoseconds.
const idleFor = 4_000_000_000

// lines are the connections of a client. The zero lines are none.
type lines struct {
	opened int32
	idle   []line
}

// line is a connection that can be used.
type line struct {
	conn int32
	free int64 // when its last answer came
}

// take gives a request that is sent at a moment a connection: the one that has been
// idle for the shortest time, as net/http chooses, or a new one.
func (l *lines) take(sent int64, apart bool) (conn int32, fresh bool) {
	l.idle = slices.DeleteFunc(l.idle, func(i line) bool { return sent-i.free >= idleFor })
	best := -1
	for i, one := range l.idle {
		if one.free <= sent && (best < 0 || one.free > l.idle[best].free) {
			best = i
		}
	}
	if best < 0 || apart {
		l.opened++
		return l.opened, true
	}
	conn = l.idle[best].conn
	l.idle = slices.Delete(l.idle, best, best+1)
	return conn, false
}

// put gives a connection back whose answer came at a moment.
func (l *lines) put(conn int32, free int64) { l.idle = append(l.idle, line{conn, free}) }
