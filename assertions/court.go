package assertions

import (
	"math"

	"github.com/ratehammer/ratehammer/scenarios"
)

// court judges requests against limits that all hold, each by its theories. It
// is what the bounds are asserted with, and what tries other promises on the
// same record.
type court struct {
	*scene
	limits []scenarios.Limit
	all    [][]*theory // by limit
	dated  *dated      // nil: no limit's periods begin at the epoch
	blind  int64       // ticks: up to here requests may be missing from the record
	start0 int64       // ticks: the run's start
}

func newCourt(sc *scene, limits []scenarios.Limit) *court {
	c := &court{scene: sc, limits: limits, blind: math.MinInt64, start0: floorDiv(-sc.early, sc.tick)}
	for _, l := range limits {
		c.all = append(c.all, theories(sc, l))
		if l.Align == scenarios.AlignEpoch {
			c.dated = newDated(sc.tick, max(l.Slack.Over, l.Slack.Under, c.drift()))
		}
	}
	return c
}

// drift is that which is granted to the clock that dates answers.
func (c *court) drift() int64 {
	if c.dated == nil {
		return 0
	}
	return c.dated.drift
}

// dates hears what an answer says of the server's clock.
func (c *court) dates(b *brief) {
	if c.dated != nil {
		c.dated.hear(b)
	}
}

// begins is where periods of a theory begin, if it knows that; nil: anywhere.
func (c *court) begins(t *theory) *closed {
	if t.epoch == 0 {
		return nil
	}
	s, ok := c.dated.begins(t.epoch)
	if !ok {
		return nil
	}
	return &s
}

// key is what a theory knows of a slot. A key that is not known to be unused
// may have been used until the run's start, or in a hole of the record.
func (c *court) key(limit int, t *theory, slot int32, at int64) *theoryKey {
	fresh := c.fresh && c.limits[limit].Key.Kind != scenarios.KeyNone
	switch {
	case c.blind > math.MinInt64:
		return t.key(slot, min(c.blind, at), false)
	case fresh:
		return t.key(slot, at, true)
	}
	return t.key(slot, min(c.start0, at), false)
}

func (c *court) start(key int32, b *brief) {
	if b.spends() {
		b = c.charge(b)
	}
	for i, l := range c.limits {
		s := slot(l, key)
		for _, t := range c.all[i] {
			t.start(c.key(i, t, s, b.from), b)
		}
	}
}

// spent tells of the end of a request that may have been let in.
func (c *court) spent(key int32, b *brief) {
	b = c.charge(b)
	c.dates(b)
	for i, l := range c.limits {
		s := slot(l, key)
		for _, t := range c.all[i] {
			t.spent(c.key(i, t, s, b.to), b)
		}
	}
}

// refused tells of the end of a refusal. With several limits any of them may
// have refused, so it was wrong only if it was so under each, and under every
// theory of it. It gives the room under the limit that had least to spare.
func (c *court) refused(key int32, b *brief) (r room, limit int) {
	seen := b.from > c.blind
	c.dates(b)
	r.wrong = true
	for i, l := range c.limits {
		s := slot(l, key)
		for n, t := range c.all[i] {
			k := c.key(i, t, s, b.to)
			x := t.refused(k, b)
			if !seen || l.Contract == scenarios.BestEffort && len(c.limits) > 1 {
				x.wrong = false // unseen requests, or a limit that promises to let nothing in
			}
			if x.wrong {
				t.wrong++
			}
			if t.grid != nil && seen && len(c.limits) == 1 {
				t.grid.refused(&k.grid, b.from, b.to, b.cost, b.seq)
			}
			wrong := r.wrong && x.wrong
			if i == 0 && n == 0 || x.left < r.left {
				r, limit = x, i
			}
			r.wrong = wrong
		}
	}
	return r, limit
}

// tears makes all windows begin anew: our clock stood still at t.
func (c *court) tears(t int64) {
	if c.dated != nil {
		c.dated.forget(t)
	}
	for _, ts := range c.all {
		for _, th := range ts {
			th.each(func(m model) { m.forget(t) })
			if th.grid != nil {
				th.grid.forget(t)
			}
		}
	}
}

// loses tells that from here on requests may be missing.
func (c *court) loses() { c.blind = math.MaxInt64 }

// regains begins anew behind a hole in the record: what was spent in it is not known.
func (c *court) regains(t int64) {
	c.blind = t
	for i, ts := range c.all {
		for _, th := range ts {
			th.each(func(m model) { m.unknown(t) })
			if th.grid != nil {
				for k := range th.keys {
					th.keys[k].grid.unknown(t, c.limits[i].Rate.Count)
				}
			}
		}
	}
}

// hear takes a batch of the sweep. It calls judge for each refusal that has ended.
func (c *court) hear(events []event, judge func(f *flight, r room, limit int)) {
	for _, e := range events {
		switch {
		case e.kind == tears:
			c.tears(e.at)
		case e.kind == loses:
			c.loses()
		case e.kind == regains:
			c.regains(e.at)
		case e.kind == starts:
			c.start(e.f.key, &e.f.brief)
		case e.f.spends():
			c.spent(e.f.key, &e.f.brief)
		default:
			r, limit := c.refused(e.f.key, &e.f.brief)
			if judge != nil {
				judge(e.f, r, limit)
			}
		}
	}
}

// tooMuch reports whether under every theory of a limit too much was admitted.
func (c *court) tooMuch(limit int) bool {
	for _, t := range c.all[limit] {
		if h, _, _, _ := t.heaviest(); !h.over {
			return false
		}
	}
	return true
}

// refuted reports whether every theory of a limit fails on something. With
// several limits, refusals are nobody's in particular and do not count.
func (c *court) refuted(limit int) bool {
	for _, t := range c.all[limit] {
		if !c.fails(t) {
			return false
		}
	}
	return true
}

func (c *court) fails(t *theory) bool {
	h, _, _, _ := t.heaviest()
	return h.over || t.wrong > 0 && len(c.limits) == 1 || t.grid != nil && t.grid.refuted(c.begins(t))
}
