package assertions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
		if t.lost > 0 || !match(t) {
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
func (q inquest) counts() string { return inWords(q.got) }

// inWords are numbers in words.
func inWords(numbers []int64) string {
	var words []string
	for _, n := range numbers {
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
	if len(d.trials) == 0 && d.after >= len(d.whole.hits) {
		return causes
	}
	for _, decide := range [...]func(causes []results.Cause) (results.Cause, bool){d.byRefusals, d.byTwins, d.byCrowd, d.byMoments, d.byConnection, d.byOverlap, d.byVolleys, d.byAge} {
		c, ok := decide(causes)
		if !ok {
			continue
		}
		c.Limit, c.Tried, c.Only = cmp.Or(c.Limit, d.limit().Name), 1, true
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
