package assertions

import "github.com/ratehammer/ratehammer/results"

// ownCounted is a counted whose windows a key's first request begins. Where a
// window may have gone by without a request they may begin anew with the next
// one; from there on nothing is concluded.
type ownCounted struct {
	*counted
	begun, loose bool
	last         int64 // ticks: when the latest request left at the earliest
}

func newOwnCounted(c *counted) *ownCounted {
	c.own = true
	return &ownCounted{counted: c}
}

func (o *ownCounted) start(x *brief) {
	switch {
	case !o.begun: // which of several at once was decided first does not matter: it was by this one's end
		o.begun, o.lo, o.hi = true, x.from, x.to
		o.loose = x.outcome != results.Admitted && x.outcome != results.Limited
	case x.to-o.last >= o.period-share(o.period, o.drift):
		o.loose = true
	}
	o.last = x.from
	o.counted.start(x)
}

func (o *ownCounted) end(x *brief) room {
	if o.loose {
		return room{}
	}
	return o.counted.end(x)
}

func (o *ownCounted) unknown(t int64) {
	o.loose = true
	o.counted.unknown(t)
}

func (o *ownCounted) forget(t int64) {
	o.loose = true
	o.counted.forget(t)
}
