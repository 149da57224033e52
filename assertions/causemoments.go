package assertions

import (
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// fired reports whether a breach was brought about by what was sent after the
// first one was proven.
func (d *diagnosis) fired(b breach) bool {
	return d.after < len(d.whole.hits) && b.at >= d.whole.hits[d.after].from
}

// onset is the beginning of a time in which a key broke the promise once and again.
type onset struct {
	at, age int64 // ticks
	key     int32
}

// onsets are those on keys that were used after the first breach was proven.
func (d *diagnosis) onsets() (list []onset) {
	quiet := max(d.whole.ticks(250*time.Millisecond), 2*d.whole.ticks(d.token()))
	last := map[int32]int64{}
	for _, b := range d.breaches() {
		if before, any := last[b.key]; d.fired(b) && (!any || b.at-before > quiet) {
			list = append(list, onset{b.at, b.age, b.key})
		}
		last[b.key] = b.at
	}
	return list
}

// coincidences counts the pairs of onsets on keys that were used side by side and
// are of different ages: those that fell at the same moment, and those at the
// same age.
func (d *diagnosis) coincidences(list []onset) (moments, ages int, at []int64) {
	near := max(d.whole.ticks(150*time.Millisecond), d.whole.ticks(d.token()))
	ended := map[int32]int64{}
	for i := range d.whole.hits {
		h := &d.whole.hits[i]
		ended[h.key] = max(ended[h.key], h.from)
	}
	for i, a := range list {
		met := false
		for _, b := range list[:i] {
			beside := a.at-a.age < ended[b.key] && b.at-b.age < ended[a.key]
			if a.key == b.key || !beside || abs((a.at-a.age)-(b.at-b.age)) <= near {
				continue
			}
			if abs(a.at-b.at) <= near {
				moments++
				met = true
			}
			if abs(a.age-b.age) <= near {
				ages++
			}
		}
		if met && (len(at) == 0 || a.at-at[len(at)-1] > near) {
			at = append(at, a.at)
		}
	}
	return moments, ages, at
}

// byMoments finds that what was watched on several keys broke on all of them at
// the same moments. Several limiters side by side explain too much, and not that.
func (d *diagnosis) byMoments(causes []results.Cause) (c results.Cause, ok bool) {
	if len(causes) > 0 && causes[0].ID != CauseMoment && causes[0].ID != CauseClock && causes[0].ID != CauseMultiple {
		return c, false
	}
	moments, ages, at := d.coincidences(d.onsets())
	if moments < 3 || moments < 3*ages {
		return c, false
	}
	var when []string
	for _, t := range at {
		when = append(when, d.moment(t))
		ns, _ := d.whole.clock(t, t)
		c.AtNS = append(c.AtNS, ns)
	}
	c.ID = CauseClock
	c.Text = "something happens to the whole server: as when its clock is stepped, its memory cleared, or its configuration loaded anew"
	c.Reasons = []string{"keys of different ages that were watched side by side broke the promise at the same moments, around " + strings.Join(head(when, 4), ", ")}
	return c, true
}

// byAge finds that the same requests on a key that was not used before break the
// promise again, first at the same age of the key: it is no matter of the moment.
func (d *diagnosis) byAge(causes []results.Cause) (c results.Cause, ok bool) {
	if len(causes) > 0 && causes[0].ID != CauseMoment {
		return c, false
	}
	first := map[int32]breach{}
	var order []breach
	for _, b := range d.breaches() {
		if _, known := first[b.key]; !known {
			first[b.key] = b
			order = append(order, b)
		}
	}
	_, ages, _ := d.coincidences(d.onsets())
	for _, a := range order {
		for _, b := range order {
			name := d.whole.names[b.key]
			if d.fired(a) || !d.fired(b) || !strings.HasSuffix(name, d.whole.names[a.key]) || abs(a.age-b.age) > a.age/20+d.whole.ticks(100*time.Millisecond) {
				continue
			}
			c = results.Cause{ID: CauseRecurs, Text: "it is no matter of the moment: the same requests on another key broke the promise again, " + duration(b.age*d.whole.tick) + " after the key's first one",
				Reasons: []string{"on key " + d.whole.names[a.key] + " around " + d.moment(a.at) + ", and on key " + name + " around " + d.moment(b.at)}}
			if ages > 2 {
				c.Reasons = append(c.Reasons, "keys that were watched side by side broke it at the same age, and not at the same moment")
			}
			return c, true
		}
	}
	return c, false
}
