package assertions

// phaseSet are the phases that a grid may have, by what speaks against the others.
// What was seen far from its origin says less, since the limiter's clock may have
// drifted against ours.
type phaseSet struct {
	bad     circle
	proof   []objection // those that spoke against something new, in the order of time
	missing int64       // phases left, when last counted
	origin  int64       // ticks: where phases are taken
	drift   int64       // parts per million
}

// objection is what speaks against some phases.
type objection struct {
	span     // on the line
	seq      int64
	refusal  bool
	from, to int64 // ticks: the requests behind it
	cost     int64 // that is certainly in the window, or that may be at most
}

func newPhaseSet(window, drift, origin int64) phaseSet {
	return phaseSet{bad: circle{length: window}, missing: window, origin: origin, drift: drift}
}

// object takes phases out.
func (p *phaseSet) object(o objection) {
	lo, hi := p.sharp(o)
	if p.bad.covers(lo, hi) {
		return // as most that is said on a long record
	}
	p.bad.add(lo, hi)
	if _, left := p.bad.gap(); left < p.missing {
		p.missing = left
		p.proof = append(p.proof, o)
	}
}

// sharp are the phases that an objection takes out for certain.
func (p *phaseSet) sharp(o objection) (lo, hi int64) {
	if p.drift == 0 {
		return o.lo, o.hi
	}
	blur := share(abs(o.hi-p.origin), p.drift) + 1
	return o.lo + blur, o.hi - blur
}

// empty reports whether no phase is left, or none of a stretch if one is given.
func (p *phaseSet) empty(only *closed) bool {
	out := p.out(only)
	return out.full()
}

// out are the phases that are not left.
func (p *phaseSet) out(only *closed) circle {
	c := p.outside(only)
	for _, s := range p.bad.spans {
		c.insert(s)
	}
	return c
}

// outside are the phases that a grid cannot have if it has one of a stretch.
func (p *phaseSet) outside(only *closed) circle {
	c := circle{length: p.bad.length}
	if only != nil {
		c.add(only.hi, only.lo-1+c.length)
	}
	return c
}

// cover is a small set of objections that together speak against every phase, or
// every one of a stretch if one is given.
func (p *phaseSet) cover(only *closed) []objection {
	var chosen []objection
	done := p.outside(only)
	for !done.full() {
		best, most := -1, int64(0)
		_, left := done.gap()
		for i, o := range p.proof {
			try := circle{length: done.length, spans: append([]span(nil), done.spans...)}
			try.add(p.sharp(o))
			if _, now := try.gap(); left-now > most {
				best, most = i, left-now
			}
		}
		if best < 0 {
			break // it is not full
		}
		done.add(p.sharp(p.proof[best]))
		chosen = append(chosen, p.proof[best])
	}
	return chosen
}
