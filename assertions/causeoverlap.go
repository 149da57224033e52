package assertions

import (
	"fmt"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

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
	atOnce := func(t *attempt) bool {
		return !t.sparse() && d.duration(t.lasts()) < volleyGap*time.Duration(len(t.hits))
	}
	volleys := d.inquire(atOnce)
	if len(causes) > 0 || volleys.n < 1 || volleys.excess < volleys.n || volleys.wrong > 0 {
		return c, false
	}
	size, n := d.limit().Size(), 0
	m := slices.Min(volleys.got) / size
	for i := range d.trials { // of a lost answer nobody knows whether it admitted
		t := &d.trials[i]
		if !atOnce(t) {
			continue
		}
		n++
		came := d.came(t)
		if m < 2 || t.got >= int64(len(t.hits)) || t.got+t.lost < m*size || t.got > m*(size+came) {
			return c, false
		}
	}
	if n < 2 {
		return c, false
	}
	return results.Cause{ID: CauseMultiple, Factor: float64(m), Text: fmt.Sprintf("it behaves like %d limiters side by side, or one with so many times the budget", m),
		Reasons: []string{fmt.Sprintf("larger volleys were admitted to the same multiple each time: %s, where %d are promised", volleys.counts(), size)}}, true
}

// volleyGap is less than from one request to the next of what is asked for one by one;
// in a queue those overlap as well.
const volleyGap = 2 * time.Millisecond

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
