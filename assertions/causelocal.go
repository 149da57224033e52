package assertions

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// Causes that are no other limit: the promised one is kept but for something.

// breach is one moment at which the promise was broken for certain, whatever was
// before the one ahead of it.
type breach struct {
	at  int64 // ticks
	key int32
	age int64 // ticks since the key's first request
}

// breaches are in the order of time.
type breaches []breach

// maxBreaches is how many are counted: more are all over the record.
const maxBreaches = 256

// breaches are the moments at which the record breaks the promise, each budget by
// itself. Behind each the reckoning begins anew with nothing known, so that one
// fault is one breach.
func (d *diagnosis) breaches() (list breaches) {
	of := map[int32][]moment{}
	for _, m := range d.all() {
		s := slot(d.limit(), d.whole.hits[m.i].key)
		of[s] = append(of[s], m)
	}
	for _, moments := range of {
		list = append(list, d.breachesIn(moments, maxBreaches)...)
	}
	slices.SortFunc(list, func(a, b breach) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.key, b.key)) })
	return list
}

// breachesIn are those of one budget, most at most.
func (d *diagnosis) breachesIn(moments []moment, most int) (list breaches) {
	c := newCourt(d.whole.scene, d.limits)
	born := d.whole.hits[moments[0].i].from
	open := map[int32]bool{}
	for _, m := range moments {
		h := &d.whole.hits[m.i]
		broken := false
		switch m.rank {
		case 0, 1:
			open[m.i] = true
			c.start(h.key, &h.brief)
			continue
		case 2:
			r, _ := c.refused(h.key, &h.brief)
			broken = r.wrong
		default:
			c.spent(h.key, &h.brief)
			broken = c.overOn(d.i, h.key)
		}
		delete(open, m.i)
		if !broken {
			continue
		}
		if list = append(list, breach{m.at, h.key, m.at - born}); len(list) == most {
			break
		}
		c = d.anew(open, m.at)
	}
	return list
}

// anew is a court that knows nothing of what was before t but the requests that
// are in flight.
func (d *diagnosis) anew(open map[int32]bool, t int64) *court {
	c := newCourt(d.whole.scene, d.limits)
	var flying []int32
	for i := range open {
		flying = append(flying, i)
	}
	slices.Sort(flying) // the sample is in the order of their starts
	for _, i := range flying {
		c.start(d.whole.hits[i].key, &d.whole.hits[i].brief)
	}
	c.tears(t)
	c.regains(t)
	return c
}

// overOn reports whether too much was admitted on a key, whatever the theory.
func (c *court) overOn(limit int, key int32) bool {
	s := slot(c.limits[limit], key)
	for _, t := range c.all[limit] {
		over := false
		for _, m := range t.keys[s].models {
			over = over || m.heaviest().over
		}
		if !over {
			return false
		}
	}
	return true
}

// stretch is a time in which the promise was broken once and again.
type stretch struct {
	from, to int64 // ticks
	keys     map[int32]int64
}

// stretches are the breaches that belong together.
func (d *diagnosis) stretches(list breaches) (out []stretch) {
	gap := max(d.length()/50, 2*d.sample.ticks(d.token()))
	for _, b := range list {
		if n := len(out); n == 0 || b.at-out[n-1].to > gap {
			out = append(out, stretch{from: b.at, keys: map[int32]int64{}})
		}
		s := &out[len(out)-1]
		s.to = b.at
		if _, known := s.keys[b.key]; !known {
			s.keys[b.key] = b.age
		}
	}
	return out
}

// length is how long the record lasts, in ticks.
func (d *diagnosis) length() int64 {
	m := d.all()
	if len(m) == 0 {
		return 0
	}
	return m[len(m)-1].at - m[0].at
}

// shared reports whether several keys of different ages broke the promise in a
// stretch: something happened then, and not to one key.
func (s stretch) shared(sc *scene) bool {
	var ages []int64
	for _, age := range s.keys {
		ages = append(ages, age)
	}
	return len(ages) > 1 && slices.Max(ages)-slices.Min(ages) > (s.to-s.from)+sc.ticks(100*time.Millisecond)
}

// together says whether the breaches of several keys fall at the same moments;
// empty: there are no two keys, or it cannot be told.
// Where something is known that did, it is not said that nothing did.
func (d *diagnosis) together(list breaches, happened bool) string {
	first := map[int32]bool{}
	var from, to int64 // ticks: the first of the keys' first breaches, and the last
	for i, b := range list {
		if i == 0 {
			from = b.at
		}
		if !first[b.key] {
			first[b.key], to = true, b.at
		}
	}
	if len(first) < 2 {
		return ""
	}
	var at []string
	for _, s := range d.stretches(list) {
		if s.shared(d.whole.scene) && s.to-s.from <= d.whole.ticks(time.Second) {
			at = append(at, fmt.Sprintf("%s (%d keys)", d.moment(s.from), len(s.keys)))
		}
	}
	switch {
	case len(at) == 0 && happened:
		return ""
	case len(at) == 0 && d.over(d.limit()): // a window of too many has room for one moment that is in those of other keys as well
		return ""
	case len(at) == 0 && to-from > d.whole.ticks(time.Second):
		return fmt.Sprintf("the breaches of %d keys do not fall at the same moments, so it is nothing that happened to the whole server at once", len(first))
	case len(at) == 0: // near each other, and at the same age of the keys
		return ""
	}
	return "several keys broke the promise at the same moments, as when something happens to the whole server: around " + strings.Join(head(at, 3), ", ")
}

// moment is a time of the run, for people.
func (d *diagnosis) moment(t int64) string {
	ns, _ := d.whole.clock(t, t)
	return "t=" + duration(ns)
}

// oddMoments looks for a promise that is kept but for a few moments: at most four
// stretches that are a fifth of the record.
func (d *diagnosis) oddMoments(list breaches) (c results.Cause, ok bool) {
	all := d.stretches(list)
	var sum int64
	shared := 0
	var at []string
	for _, s := range all {
		sum += s.to - s.from
		if s.shared(d.whole.scene) {
			shared++
		}
		at = append(at, d.moment(s.from))
		ns, _ := d.whole.clock(s.from, s.from)
		c.AtNS = append(c.AtNS, ns)
	}
	if len(all) == 0 || len(all) > 4 || len(list) >= maxBreaches || sum > d.length()/5 || d.always(list) {
		return c, false
	}
	c.ID, c.Text = CauseMoment, "the promise was broken around "+strings.Join(at, ", ")+" and at no other moment of this run"
	if shared > 0 {
		c.ID = CauseClock
		c.Text += ", on several keys at once: as when the server's clock is stepped, or its memory is cleared"
	}
	return c, true
}

// always reports whether new keys break the promise as soon as they are asked for
// more than they have: all of them began within a few moments, and the fault has
// nothing to do with those.
func (d *diagnosis) always(list breaches) bool {
	at := d.whole.ticks(200 * time.Millisecond)
	broken := map[int32]bool{}
	for _, b := range list {
		broken[b.key] = broken[b.key] || b.age <= at
	}
	asked, broke := 0, 0
	for key, hits := range d.whole.byKey() {
		var cost int64
		for _, h := range hits {
			if h.from-hits[0].from <= at {
				cost += h.cost
			}
		}
		if cost > d.limit().Size() {
			asked++
			if broken[key] {
				broke++
			}
		}
	}
	return broke > 2 && 2*broke > asked
}

// empty looks for keys that have nothing when they are first used, and keep the
// promise from then on.
func (d *diagnosis) empty() (c results.Cause, ok bool) {
	if !d.whole.fresh || d.clues.empty == 0 || d.clues.empty*10 < d.clues.fresh*9 || d.spoiled() {
		return c, false
	}
	return results.Cause{ID: CauseEmpty, Text: fmt.Sprintf("a key has nothing when it is first used: %d of %d new keys were refused at once, and from then on the promise is kept", d.clues.empty, d.clues.fresh)}, true
}

// spoiled reports whether the record breaks the promise even where nothing is
// known of a key's level when its first answer came.
func (d *diagnosis) spoiled() bool {
	c := newCourt(d.whole.scene, d.limits)
	known := map[int32]int64{} // by key: when its first answer came, in ticks
	for _, m := range d.all() {
		h := &d.whole.hits[m.i]
		wrong := false
		switch m.rank {
		case 0, 1:
			c.start(h.key, &h.brief)
			continue
		case 2:
			r, _ := c.refused(h.key, &h.brief)
			wrong = r.wrong
		default:
			c.spent(h.key, &h.brief)
		}
		first, any := known[h.key]
		if !any {
			known[h.key] = m.at
			c.unknownOn(h.key, m.at)
		} else if wrong && h.from > first {
			return true
		}
	}
	return c.tooMuch(d.i)
}

// unknownOn tells that what was spent on a key until t is not known.
func (c *court) unknownOn(key int32, t int64) {
	for i, l := range c.limits {
		for _, th := range c.all[i] {
			for _, m := range th.keys[slot(l, key)].models {
				m.unknown(t)
			}
		}
	}
}

// race looks for an excess that is only where admitted requests overlap, and is
// not the same each time: deciding and counting are two steps. It begins with
// keys that are new: what exceeds the promise only on keys that were refused
// before comes from what they are given back, and not from what overlaps.
func (d *diagnosis) race() (c results.Cause, ok bool) {
	counts := d.clues.first
	if len(counts) < 2 || slices.Max(counts) <= d.limit().Size() || d.wronged(d.limit()) || !d.over(d.limit()) || !d.exceeds() || !d.overlapping() {
		return c, false
	}
	return d.raced(counts), true
}

// exceeds reports whether more than the promise was admitted to new keys before
// anything was refused to them.
func (d *diagnosis) exceeds() bool {
	for _, hits := range d.whole.byKey() {
		var first []sampled
		refused := int64(math.MaxInt64) // ticks: when the first refusal was answered
		for _, h := range hits {
			if h.from > refused {
				break
			}
			if first = append(first, *h); h.outcome == results.Limited {
				refused = min(refused, h.to)
			}
		}
		if over, _ := d.judged(&attempt{hits: first}); over {
			return true
		}
	}
	return false
}

// forgiveOverlaps takes what was admitted on a key while another admission was
// being decided as unknown.
func forgiveOverlaps(hits []*sampled) {
	var overlaps []*sampled
	var end *sampled // of the admissions so far, the one that lasts longest
	for _, h := range hits {
		if h.outcome != results.Admitted {
			continue
		}
		if end != nil && h.from <= end.to {
			overlaps = append(overlaps, h, end)
		}
		if end == nil || h.to > end.to {
			end = h
		}
	}
	for _, h := range overlaps {
		h.outcome = results.Unknown
	}
}
