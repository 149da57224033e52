package assertions

// log is the model of a sliding window of the length W: at most so much in any
// half-open window, and no refusal while there is less in the last one.
type log struct {
	logUpper
	logLower
	most  int64 // allowed in a window; 0: not asked
	least int64 // up to which nothing may be refused; 0: not asked
}

// newLog is a key that is used for the first time, or, not fresh, one that may
// have been used up to at.
func newLog(window, most, least, at int64, fresh bool) *log {
	l := &log{logUpper: logUpper{window: window}, logLower: logLower{window: window}, most: most, least: least}
	if !fresh {
		l.unknown(at)
	}
	return l
}

func (l *log) start(x *brief) {
	switch {
	case l.least == 0:
	case x.spends():
		l.spend(x.from, x.cost)
	default:
		l.refuse(x.from)
	}
}

func (l *log) end(x *brief) (r room) {
	if l.most > 0 && !x.torn {
		l.logUpper.end(x.from, x.to, x.certain())
	}
	switch {
	case l.least == 0:
	case x.spends():
		l.spent(x.to, x.cost)
	default:
		most := l.refused(x.from, x.to)
		r = room{judged: true, wrong: most+x.cost <= l.least, left: float64(l.least - most), of: float64(l.least), since: x.to - l.logLower.window}
	}
	return r
}

func (l *log) forget(t int64) { l.logUpper.forget(t) }

// unknown: the window may be full of what we did not see.
func (l *log) unknown(t int64) {
	if l.least > 0 {
		l.spend(t, l.least)
		l.spent(t, l.least)
	}
}

func (l *log) trim(oldest int64) { l.logLower.trim(oldest) }

func (l *log) heaviest() heavy {
	if l.most == 0 || l.logUpper.most == 0 {
		return heavy{}
	}
	return heavy{any: true, over: l.logUpper.most > l.most, from: l.from, to: l.to,
		got: float64(l.logUpper.most), allowed: float64(l.most), rule: ruleWindow, burst: l.most}
}
