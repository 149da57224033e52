package assertions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CauseApart is about several limits that are charged one by one: what one of them
// refuses has cost another one already.
const CauseApart = "limits.apart"

// chargedApart looks for a limit that explains all refusals if those that another one
// may have made have been charged to it. A limit that is smaller, slower or charges its
// own refusals has refused something wrongly where the others had room.
func (d *diagnosis) chargedApart() (c results.Cause, ok bool) {
	if len(d.limits) < 2 || d.over(d.limit()) {
		return c, false
	}
	for i, l := range d.limits {
		s, some := d.chargedBy(i)
		if !some || s.play(newCourt(s.scene, d.limits[i:i+1]), s.moments(), 0) {
			continue
		}
		return d.apart(l), true
	}
	return c, false
}

// ofAny are the explanations by one limit or another, where a refusal may have been any
// one's, the simplest first; told is each in words.
func (d *diagnosis) ofAny() (causes []results.Cause, told []string, equal bool, tried int) {
	type one struct {
		cause  results.Cause
		told   string
		strain int
	}
	var all []one
	for i := range d.limits {
		o := newDiagnosis(d.whole, d.limits, i)
		o.every = d.every
		fit, n := o.explanations()
		tried += n
		for _, x := range fit {
			all = append(all, one{o.cause(x), o.limit().Name + " as " + named(x), o.strain(x)})
		}
	}
	slices.SortStableFunc(all, func(a, b one) int { return cmp.Compare(a.strain, b.strain) })
	for _, x := range all {
		causes, told = append(causes, x.cause), append(told, x.told)
	}
	return causes, told, len(all) > 1 && all[1].strain <= all[0].strain+1, tried
}

// apart is the cause where a limit is charged for what others refuse.
func (d *diagnosis) apart(l scenarios.Limit) results.Cause {
	return results.Cause{ID: CauseApart, Limit: l.Name,
		Text: fmt.Sprintf("the limits are charged one by one: a request that another limit refuses has cost %s %s already", called(l), terms(l))}
}

// called is a limit by its name.
func called(l scenarios.Limit) string { return strings.TrimSpace("the limit " + l.Name + " of") }

// chargedBy is the sample as it is for one limit that is charged for what the others
// refuse: a refusal that may be theirs may have cost as much as an admission. Some is
// false where no refusal may be.
func (d *diagnosis) chargedBy(i int) (s *sample, some bool) {
	others := slices.Delete(slices.Clone(d.limits), i, i+1)
	s = &sample{scene: d.whole.scene, full: d.whole.full, until: d.whole.until, hits: slices.Clone(d.whole.hits)}
	c := newCourt(d.whole.scene, others)
	for _, m := range d.all() {
		h := &d.whole.hits[m.i]
		switch m.rank {
		case 0, 1:
			c.start(h.key, &h.brief)
		case 2:
			if r, _ := c.refused(h.key, &h.brief); !r.wrong {
				s.hits[m.i].outcome, some = results.Unknown, true
			}
		default:
			c.spent(h.key, &h.brief)
		}
	}
	return s, some
}

// byTwins finds that keys which had spent as much have less left where another limit
// refused something meanwhile.
func (d *diagnosis) byTwins([]results.Cause) (c results.Cause, ok bool) {
	for _, l := range d.limits {
		fill := d.whole.ticks(l.Fill())
		spared, refused := d.left(scenarios.TwinSpared+l.Name, fill), d.left(scenarios.TwinRefused+l.Name, fill)
		if len(spared) == 0 || len(refused) == 0 || slices.Min(spared) <= slices.Max(refused) {
			continue
		}
		c = d.apart(l)
		c.Reasons = []string{fmt.Sprintf("keys that had spent the same were asked again at the same age: %s were admitted where nothing had been refused before, and %s where another limit had refused something", inWords(spared), inWords(refused))}
		return c, true
	}
	return c, false
}

// left is what the last volley admitted on each key of an experiment of this name, where
// nothing had been admitted for as long as a limit takes to be full.
func (d *diagnosis) left(name string, fill int64) (got []int64) {
	later := &sample{scene: d.whole.scene, hits: d.whole.hits[min(d.after, len(d.whole.hits)):]}
	for key, hits := range later.byKey() {
		if !strings.HasPrefix(strings.TrimPrefix(d.whole.names[key], scenarios.FollowUpPrefix), name+"/") {
			continue
		}
		var n int64
		known, begin := true, hits[len(hits)-1].from-d.whole.ticks(scenarios.TwinVolley)
		for _, h := range hits {
			switch {
			case h.from < begin-fill: // it has all of it again
			case h.from < begin:
				known = known && h.outcome == results.Limited
			case h.outcome == results.Admitted:
				n += h.cost
			default:
				known = known && h.outcome == results.Limited
			}
		}
		if known {
			got = append(got, n)
		}
	}
	return got
}
