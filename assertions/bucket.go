package assertions

// bucket is the model of a token bucket: the staircase finds what was too much,
// the pessimist what was refused wrongly. Either may be that of another bucket
// than the promised one, where a kind of limiter is only bounded by buckets.
type bucket struct {
	upper  *staircase // nil: not asked
	burst  int64      // of upper, in its 1/den token
	most   int64      // the same in tokens
	lower  *pessimist // nil: not asked
	tokens float64    // of lower's bucket, for people
}

// newBucket bounds admissions from above by a bucket of most, and refusals by
// one of least tokens; 0 leaves a side out.
func newBucket(up tempo, most int64, down tempo, least, at int64, full bool, step int64) *bucket {
	b := &bucket{}
	if most > 0 {
		b.upper, b.burst, b.most = &staircase{tempo: up}, up.weigh(most), most
	}
	if least > 0 {
		p := newPessimist(down, least, at, full, step)
		b.lower, b.tokens = &p, float64(least)
	}
	return b
}

func (b *bucket) start(x *brief) {
	if b.upper != nil && !x.torn {
		b.upper.start(x.from)
	}
	switch {
	case b.lower == nil:
	case x.spends():
		b.lower.spend(x.from, x.cost)
	default:
		b.lower.refuse(x.from)
	}
}

func (b *bucket) end(x *brief) (r room) {
	if b.upper != nil && !x.torn {
		b.upper.end(x.from, x.to, x.certain())
	}
	switch {
	case b.lower == nil:
	case x.spends():
		b.lower.spent(x.to, x.cost)
	default:
		low := b.lower.refused(x.from, x.to)
		r = room{judged: true, wrong: low.level >= b.lower.weigh(x.cost), left: b.lower.tokens(low.level), of: b.tokens, since: b.lower.full}
	}
	return r
}

func (b *bucket) forget(int64) {
	if b.upper != nil {
		b.upper.forget()
	}
}

func (b *bucket) unknown(t int64) {
	if b.lower != nil {
		b.lower.unknown(t)
	}
}

func (b *bucket) trim(oldest int64) {
	if b.lower != nil && b.lower.refusals > 0 {
		b.lower.trim(oldest)
	}
}

func (b *bucket) heaviest() heavy {
	if b.upper == nil || !b.upper.any {
		return heavy{}
	}
	u := b.upper
	gain := u.gain(u.to - u.from)
	return heavy{any: true, over: u.load > b.burst, from: u.from, to: u.to,
		got: u.tokens(u.load + gain), allowed: u.tokens(b.burst + gain), rule: ruleRate, burst: b.most}
}
