package assertions

import (
	"fmt"
	"math"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// What a refusal does to what comes behind it is told by keys that differ in nothing
// else: all have spent what they have, some without being refused, and each is asked
// again when something is due.

// control is a key that was fired at after the breach and had spent all that is
// promised at once.
type control struct {
	spared bool  // nothing was refused to it while it spent
	polled bool  // it was asked all the time since then
	served bool  // what was asked behind the pause was admitted, or one of the polls
	pause  int64 // ticks from its last admission to the request that tells, or to the last poll
}

// least is the smallest of all limits: what it admits the others have room for.
func (d *diagnosis) least() scenarios.Limit {
	l := d.limit()
	for _, o := range d.limits {
		if o.Rate.Count > 0 && (l.Rate.Count == 0 || o.Size() < l.Size()) {
			l = o
		}
	}
	return l
}

// controls are those on which something was due when they were asked.
func (d *diagnosis) controls() (all []control) {
	later := &sample{scene: d.whole.scene, hits: d.whole.hits[min(d.after, len(d.whole.hits)):]}
	for _, hits := range later.byKey() {
		if c, ok := d.controlled(hits); ok && c.pause > d.whole.ticks(d.least().Longest()) {
			all = append(all, c)
		}
	}
	return all
}

// controlled is what a key tells, if it tells something. In a queue a request may wait
// for longer than a client does.
func (d *diagnosis) controlled(hits []*sampled) (c control, ok bool) {
	span, waits := d.whole.ticks(max(d.least().Longest(), time.Second)), d.least().Contract == scenarios.Queue
	var got, unsure, refused, spent int64 // tokens, refusals, and when the last was asked for that may have been admitted
	n := 0
	for ; n < len(hits) && hits[n].from-hits[0].from < span/10; n++ {
		switch h := hits[n]; {
		case h.outcome == results.Admitted:
			got, spent = got+h.cost, h.from
		case h.outcome == results.Limited:
			refused++
		case waits:
			unsure, spent = unsure+h.cost, h.from
		default:
			return c, false
		}
	}
	size, came := d.least().Size(), d.least().Rate.Tokens(d.duration(spent-hits[0].from))
	if c.spared = refused == 0; got+unsure < size || got > size+came+1 || c.spared && got+unsure != size || n == len(hits) {
		return c, false
	}
	c.polled = hits[n].from-hits[n-1].from < span/2
	for _, h := range hits[n:] {
		if h.cost != 1 || h.outcome != results.Admitted && h.outcome != results.Limited && !waits {
			return c, false
		}
		c.pause = h.from - spent
		unsure := h.outcome != results.Limited && h.outcome != results.Admitted
		if c.polled && unsure { // it may have been let in, or its answer was lost
			return c, false
		}
		if c.served = unsure || h.outcome == results.Admitted; !c.polled || c.served {
			break // a later one has another history
		}
	}
	return c, true
}

// treated is what became of keys that were treated alike.
type treated struct {
	refused, served int
	latest          int64 // ticks: the longest pause behind which one was refused; 0: none was
	soonest         int64 // ticks: the shortest behind which one was served; MaxInt64: none was
}

func treat(all []control, match func(control) bool) treated {
	t := treated{soonest: math.MaxInt64}
	for _, c := range all {
		switch {
		case !match(c):
		case c.served:
			t.served++
			t.soonest = min(t.soonest, c.pause)
		default:
			t.refused++
			t.latest = max(t.latest, c.pause)
		}
	}
	return t
}

// byRefusals finds that who was refused is refused for longer than who spent as much
// and was not: for some time, or for as long as he asks.
func (d *diagnosis) byRefusals(causes []results.Cause) (c results.Cause, ok bool) {
	all := d.controls()
	spared := treat(all, func(c control) bool { return c.spared && !c.polled })
	alone := treat(all, func(c control) bool { return !c.spared && !c.polled })
	polled := treat(all, func(c control) bool { return !c.spared && c.polled })
	if spared.served == 0 || spared.refused > 0 || alone.soonest <= alone.latest {
		return c, false
	}
	lasting := func(ticks int64) string { return duration(int64(d.duration(ticks))) }
	prolongs := polled.served == 0 && polled.latest > alone.soonest
	switch {
	case prolongs:
		c.ID = CauseProlong
		c.Text = fmt.Sprintf("refusals seem to count like admissions: who asks while he is refused is refused for longer; a key that was left alone was admitted %s after it had spent all, and one that was polled was not within %s", lasting(alone.soonest), lasting(polled.latest))
	case alone.refused == 0:
		return c, false
	default:
		c.ID = CauseBlock
		c.Text = "a refusal blocks the key: all that follows is refused for longer than " + lasting(alone.latest)
		if alone.served > 0 {
			c.Text += ", and not for " + lasting(alone.soonest)
		}
	}
	c.Reasons = []string{fmt.Sprintf("it takes a refusal: of keys that had spent as much and were asked again when something was due, %d of %d were served that had been refused nothing, and %d of %d that had", spared.served, spared.served, alone.served, alone.served+alone.refused)}
	if prolongs && alone.refused == 0 {
		c.Reasons = []string{fmt.Sprintf("it takes to be asked meanwhile: of keys that had spent as much, %d of %d that were left alone were served when something was due, and none that was polled", alone.served, alone.served+alone.refused)}
	}
	if !prolongs && polled.served == 0 && alone.served == 0 {
		if len(causes) > 0 && causes[0].ID == CauseProlong { // which longer watches of the run had told
			c.ID, c.Text = CauseProlong, causes[0].Text
		} else {
			c.Reasons = append(c.Reasons, "whether asking meanwhile prolongs it is not known")
		}
	}
	if len(causes) > 0 && causes[0].ID == c.ID { // the run had told it already, and for how long
		c.Text = causes[0].Text
	}
	return c, true
}
