package assertions

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// What was fired after a breach decides between causes that the run could not
// tell apart. That they explain the record is not enough for it: a race and
// several instances both do, and differ in what one request after the other
// finds.

// inquest is what one experiment found.
type inquest struct {
	n      int     // trials
	excess int     // in which more was admitted than promised
	wrong  int     // in which something was refused that is promised
	got    []int64 // tokens admitted, by trial
	all    bool    // each request of every trial was admitted
}

// inquire judges the trials that match, each by itself: those in which no two
// requests overlap, if there are any.
func (d *diagnosis) inquire(match func(t *attempt) bool) inquest {
	if q := d.question(func(t *attempt) bool { return match(t) && t.mixed == 0 }); q.n > 0 {
		return q
	}
	return d.question(match)
}

func (d *diagnosis) question(match func(t *attempt) bool) (q inquest) {
	q.all = true
	for i := range d.trials {
		t := &d.trials[i]
		if !match(t) {
			continue
		}
		over, wrong := d.judged(t)
		q.n++
		if over {
			q.excess++
		}
		if wrong {
			q.wrong++
		}
		q.got = append(q.got, t.got)
		q.all = q.all && t.got >= int64(len(t.hits))
	}
	return q
}

// judged holds one trial against the promise.
func (d *diagnosis) judged(t *attempt) (over, wrong bool) {
	s := &sample{scene: d.whole.scene, hits: slices.Clone(t.hits)}
	if t.mixed > 0 && t.sparse() {
		for _, hits := range s.byKey() {
			forgiveOverlaps(hits)
		}
	}
	c := newCourt(s.scene, d.limits)
	wrong = s.show(c, s.moments())
	return c.overOn(d.i, t.hits[0].key), wrong
}

// counts are the tokens that the trials admitted, for people.
func (q inquest) counts() string {
	var words []string
	for _, n := range q.got {
		words = append(words, fmt.Sprint(n))
	}
	if len(words) > 1 {
		return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
	}
	return strings.Join(words, "")
}

// aloneTrials, apartTrials and volleyTrials are the three ways to ask a full key
// for more than it has.
//
// On a busy machine a request may be late and overlap the next one.
func aloneTrials(t *attempt) bool  { return t.sparse() && t.conns <= 1+t.mixed }
func apartTrials(t *attempt) bool  { return t.sparse() && t.conns == len(t.hits) && t.conns > 2 }
func volleyTrials(t *attempt) bool { return !t.sparse() }

// sparse reports whether all but a few requests had no other beside them.
func (t *attempt) sparse() bool { return 4*t.mixed < len(t.hits) }

// decided are the causes in the light of what was fired after the breach.
func (d *diagnosis) decided(causes []results.Cause, requests int64) []results.Cause {
	if len(d.trials) == 0 {
		return causes
	}
	for _, decide := range [...]func(causes []results.Cause) (results.Cause, bool){d.byCrowd, d.byMoments, d.byConnection, d.byOverlap, d.byVolleys, d.byAge} {
		c, ok := decide(causes)
		if !ok {
			continue
		}
		c.Limit, c.Tried, c.Only = d.limit().Name, 1, true
		if len(causes) > 0 {
			c.Tried += causes[0].Tried
		}
		c.Explains = float64(d.held()) / float64(max(requests, d.held(), 1))
		return []results.Cause{c}
	}
	if len(causes) > 0 {
		causes[0].Reasons = append(causes[0].Reasons, d.confirmed()...)
	}
	return causes
}

// byConnection tells what depends on the connection from what does not.
func (d *diagnosis) byConnection([]results.Cause) (c results.Cause, ok bool) {
	alone, apart := d.inquire(aloneTrials), d.inquire(apartTrials)
	if alone.n == 0 || apart.n == 0 {
		return c, false
	}
	most, beyond := slices.Max(alone.got), d.beyond(apartTrials)
	if beyond <= most { // what came back while connections were opened explains it
		return c, false
	}
	saw := fmt.Sprintf("one request after the other admitted %s over one connection, and %s over a connection for each, where %d are promised", alone.counts(), apart.counts(), d.limit().Size())
	switch {
	case alone.excess == 0 && 2*apart.excess > apart.n && apart.all:
		c = results.Cause{ID: CauseConnection, Text: "each connection has a budget of its own: whoever opens another one begins anew"}
	case alone.excess == 0 && 2*apart.excess > apart.n:
		m := d.times(apartTrials)
		c = results.Cause{ID: CauseMultiple, Factor: float64(m), Text: fmt.Sprintf("%d limiters side by side, such as one for each instance, have a budget of their own, and the connection decides which of them is asked", m)}
	case 2*alone.wrong > alone.n && 3*most <= 2*beyond && most > 0:
		m := float64(d.limit().Size()) / float64(most)
		c = results.Cause{ID: CauseFraction, Factor: 1 / m, Text: fmt.Sprintf("the budget is divided, about by %s, among limiters side by side, and a connection reaches one of them", number(m))}
	default:
		return c, false
	}
	c.Reasons = []string{saw}
	return c, true
}

// beyond is what each trial admitted at least beside what came back while it lasted.
func (d *diagnosis) beyond(match func(*attempt) bool) int64 {
	least := int64(-1)
	for i := range d.trials {
		if t := &d.trials[i]; match(t) {
			if got := max(0, t.got-d.came(t)); least < 0 || got < least {
				least = got
			}
		}
	}
	return least
}

// times is how many budgets explain what the trials admitted.
func (d *diagnosis) times(match func(*attempt) bool) int64 {
	most := int64(2)
	for i := range d.trials {
		if t := &d.trials[i]; match(t) {
			one := d.limit().Size() + d.came(t)
			most = max(most, (t.got+one-1)/one)
		}
	}
	return most
}

// came is how many tokens of one budget came while a trial lasted, rounded up.
func (d *diagnosis) came(t *attempt) int64 {
	var end int64
	for i := range t.hits {
		end = max(end, t.hits[i].to)
	}
	return d.limit().Rate.Tokens(d.duration(end-t.hits[0].from)) + 1
}

// byOverlap finds that too much passes only among requests that overlap.
func (d *diagnosis) byOverlap([]results.Cause) (c results.Cause, ok bool) {
	alone, apart, volleys := d.inquire(aloneTrials), d.inquire(apartTrials), d.inquire(volleyTrials)
	if alone.n == 0 || alone.excess+alone.wrong+apart.excess+apart.wrong > 0 || volleys.n == 0 || 2*volleys.excess < volleys.n || !d.overlapping() {
		return c, false
	}
	c = d.raced(volleys.got)
	c.Reasons = []string{fmt.Sprintf("the same asked one after the other is admitted as promised (%s of %d); at once %s were", alone.counts(), d.limit().Size(), volleys.counts())}
	if apart.n > 0 {
		c.Reasons = append(c.Reasons, fmt.Sprintf("it does not depend on the connection: over a connection for each request %s were admitted", apart.counts()))
	}
	return c, true
}

// byVolleys finds the same whole multiple of what is promised in each volley,
// where it could have been more: several budgets, of which a race would not come
// to the same number each time.
func (d *diagnosis) byVolleys(causes []results.Cause) (c results.Cause, ok bool) {
	volleys := d.inquire(volleyTrials)
	if len(causes) > 0 || volleys.n < 2 || volleys.excess < volleys.n || volleys.wrong > 0 {
		return c, false
	}
	size := d.limit().Size()
	m := slices.Min(volleys.got) / size
	for i := range d.trials {
		t := &d.trials[i]
		if t.sparse() {
			continue
		}
		came := d.came(t)
		if m < 2 || t.got >= int64(len(t.hits)) || t.got < m*size || t.got > m*(size+came) {
			return c, false
		}
	}
	return results.Cause{ID: CauseMultiple, Factor: float64(m), Text: fmt.Sprintf("it behaves like %d limiters side by side, or one with so many times the budget", m),
		Reasons: []string{fmt.Sprintf("larger volleys were admitted to the same multiple each time: %s, where %d are promised", volleys.counts(), size)}}, true
}

// confirmed is what the trials say for a cause that they did not change.
func (d *diagnosis) confirmed() (reasons []string) {
	alone, apart := d.inquire(aloneTrials), d.inquire(apartTrials)
	size := d.limit().Size()
	switch off := alone.excess + alone.wrong; {
	case alone.n == 0:
	case 2*off > alone.n && apart.n > 0 && 2*(apart.excess+apart.wrong) > apart.n:
		reasons = append(reasons, fmt.Sprintf("it takes no requests that overlap, and does not depend on the connection: one after the other %s were admitted over one connection and %s over a connection for each, where %d are promised", alone.counts(), apart.counts(), size))
	case 2*off > alone.n:
		reasons = append(reasons, fmt.Sprintf("it takes no requests that overlap: one after the other %s were admitted, where %d are promised", alone.counts(), size))
	case off == 0:
		reasons = append(reasons, fmt.Sprintf("one request after the other is answered as promised (%s of %d)", alone.counts(), size))
	}
	return reasons
}

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

// byCrowd finds that a drained key is full again when many others came meanwhile,
// and not when it was left alone.
func (d *diagnosis) byCrowd([]results.Cause) (c results.Cause, ok bool) {
	const crowd, few = 100, 10
	broken := map[int32]bool{}
	for _, b := range d.breaches() {
		if d.fired(b) {
			broken[b.key] = true
		}
	}
	var hit, missed, spoiled, left int // keys that a crowd came between, and keys left alone: broken and not
	for key, met := range d.met() {
		switch {
		case met >= crowd && broken[key]:
			hit++
		case met >= crowd:
			missed++
		case met < few && broken[key]:
			spoiled++
		case met < few:
			left++
		}
	}
	// A table of a few keys is full now and then by those of the trial itself.
	if hit == 0 || missed > 0 || left == 0 || spoiled > left {
		return c, false
	}
	return results.Cause{ID: CauseEvicted, Text: "a key that has spent is forgotten when many others come, and begins with a full budget: the table of keys is too small, or cleared when it is full",
		Reasons: []string{fmt.Sprintf("%s had a full budget again after at least %d other keys had come, and none of %d that were left alone for as long", plural(int64(hit), "drained key"), crowd, left)}}, true
}

// met is, by key that was drained and asked again after a pause, how many others
// were first used in the pause.
func (d *diagnosis) met() map[int32]int {
	pause := d.whole.ticks(300 * time.Millisecond)
	born, last, pauses := map[int32]int64{}, map[int32]int64{}, map[int32][2]int64{}
	drained := map[int32]bool{}
	for _, h := range d.whole.hits[d.after:] {
		if _, used := born[h.key]; !used {
			born[h.key] = h.from
		} else if h.from-last[h.key] > pause && drained[h.key] {
			pauses[h.key] = [2]int64{last[h.key], h.from}
		}
		drained[h.key] = drained[h.key] || h.outcome == results.Limited
		last[h.key] = max(last[h.key], h.to)
	}
	met := map[int32]int{}
	for key, p := range pauses {
		met[key] = 0
		for _, at := range born {
			if at > p[0] && at < p[1] {
				met[key]++
			}
		}
	}
	return met
}

// raced is the cause of a race in which so many were admitted at once.
func (d *diagnosis) raced(counts []int64) results.Cause {
	size := d.limit().Size()
	lo, hi := slices.Min(counts), slices.Max(counts)
	how := fmt.Sprintf(" (%d", lo)
	if lo != hi {
		how = fmt.Sprintf(", and not the same each time (%d to %d", lo, hi)
	}
	return results.Cause{ID: CauseRace, Text: fmt.Sprintf("requests that overlap are decided before each other's are counted: too much passes only among those%s at once where %d are promised)", how, size)}
}

// overlapping reports whether the promise is kept if nothing is known of what
// became of admissions that overlap others.
func (d *diagnosis) overlapping() bool {
	alone := &sample{scene: d.whole.scene, full: d.whole.full, until: d.whole.until, hits: slices.Clone(d.whole.hits)}
	for _, hits := range alone.byKey() {
		forgiveOverlaps(hits)
	}
	return !alone.play(newCourt(alone.scene, d.limits), alone.moments(), d.i)
}
