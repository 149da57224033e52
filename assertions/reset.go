package assertions

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/fields"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckReset is the id of the truth of when quota is told to come back.
const CheckReset = "ratelimit.reset"

// reset holds the moments that answers tell against what is true of every meaning
// that they may have: that some quota is there again, or all of it.
//
//   - A refusal that has nothing left tells of a moment to come.
//   - It tells of none that is too early for a single token: the bucket holds at
//     most so much when the refusal is received, and the rest takes its time.
//   - Who comes then, with nothing between, is not refused again.
//   - No answer tells of a moment later than that at which a key that had nothing
//     at all is as if it had never been used.
//
// What a bare number counts is known of the drafts. Of other fields it is known
// where it can be nothing else; where seconds would be a lie and milliseconds the
// truth, it is advice to say which.
//
// Draft -11 has redefined t: within it no more than r is to be had, and it tells
// nothing of when more comes. That it is too late is asked all the same, that it
// is too early only where the draft is known to be an earlier one.
//
// It hears the first 32,768 requests.
type reset struct {
	*scene
	limits []scenarios.Limit
	i      int
	draft  int        // of the RateLimit fields that the server speaks; 0: not known
	purses [][]ledger // by slot; of another limit than a bucket: none
	turns  []pledge   // by slot
	blind  bool       // requests may be missing from the record

	some   bool // an answer tells of limits at all
	heard  int64
	told   int64
	obeyed int64 // of the moments told, how many were waited for
	past   misled
	early  misled // by what a bucket can hold
	again  misled // refused again
	late   misled
	vague  misled // late as seconds, and right as milliseconds
}

// pledge is what a key was told, and who waits for it.
type pledge struct {
	open  int
	alone *flight
	last  claim // of the last refusal, while nothing else has been sent
	by    claim // that alone obeys
}

// claim is a moment that a refusal has told. The zero claim is none.
type claim struct {
	seq    int64
	at     int64 // nanoseconds: when it was received
	moment fields.Moment
}

// misled counts moments that are wrong in one way, and keeps the first.
type misled struct {
	n      int64
	h      results.Hit
	moment fields.Moment
	truth  time.Duration
	before int64 // Seq of the refusal that was obeyed; 0: none
	sure   bool  // it is so by every meaning that the field may have
}

func (m *misled) add(h *results.Hit, told fields.Moment, truth time.Duration, sure bool) {
	if m.n++; m.n == 1 || sure && !m.sure {
		m.h, m.moment, m.truth, m.sure, m.before = *h, told, truth, sure, 0
	}
}

func newReset(sc *scene, limits []scenarios.Limit, i, draft int) *reset {
	return &reset{scene: sc, limits: limits, i: i, draft: draft}
}

func (r *reset) check() string { return CheckReset }
func (r *reset) trim(int64)    {}

func (r *reset) hear(events []event) {
	for _, e := range events {
		if r.heard >= sampleSize {
			return
		}
		switch e.kind {
		case tears:
			for _, ledgers := range r.purses {
				for _, l := range ledgers {
					l.forget()
				}
			}
		case loses, regains:
			r.blind = e.kind == loses
			for i := range r.turns {
				r.turns[i].alone, r.turns[i].last = nil, claim{}
			}
		case starts:
			r.start(e.f)
		case ends:
			r.end(e.f)
		}
	}
}

// bucketed reports whether what is left is known of the limit by a bucket.
func bucketed(l scenarios.Limit) bool {
	switch l.Contract {
	case "", scenarios.TokenBucket, scenarios.GCRA, scenarios.Nginx:
		return true
	}
	return false
}

func (r *reset) start(f *flight) {
	l := r.limits[r.i]
	s := int(slot(l, f.key))
	for len(r.turns) <= s {
		r.turns = append(r.turns, pledge{})
		var ledgers []ledger
		if bucketed(l) {
			ledgers = append(ledgers, newPurse(newTempo(l.Rate, l.Slack.Over, r.length(), l.Burst, roundUp), l.Burst, 0))
		}
		r.purses = append(r.purses, ledgers)
	}
	for _, p := range r.purses[s] {
		p.start(&f.brief)
	}
	k := &r.turns[s]
	k.alone, k.by = nil, claim{}
	if k.open == 0 && !r.blind {
		k.alone = f
		if k.last.seq != 0 && f.hit.Sent >= k.last.ready(r) {
			k.by = k.last
		}
	}
	k.last = claim{}
	k.open++
}

// ready is the moment from which on a request has obeyed.
func (c *claim) ready(r *reset) int64 {
	wait := max(c.moment.Wait, 0) + skew(c.moment)
	return c.at + r.sweep.late + int64(wait+r.limits[r.i].Slack.Grace(wait))
}

// skew is what is granted to a moment on the server's clock: who writes Date need
// not be who writes the moment.
func skew(m fields.Moment) time.Duration {
	if m.Unit.Clocked() {
		return time.Duration(disagreement)
	}
	return 0
}

func (r *reset) end(f *flight) {
	s := int(slot(r.limits[r.i], f.key))
	k := &r.turns[s]
	r.heard++
	k.open--
	alone := k.alone == f
	by := k.by
	if alone {
		k.alone, k.by = nil, claim{}
		if by.seq != 0 && (f.outcome == results.Admitted || f.outcome == results.Limited) {
			r.judge(f, by)
		}
	}
	need := r.need(s, f)
	for _, p := range r.purses[s] {
		p.end(&f.brief)
	}
	if !f.speaks() {
		return
	}
	r.some = r.some || f.announces()
	for _, t := range f.about(r.limits, r.i) {
		if t.Reset.Unit == fields.Absent || t.Reset.Unit == fields.Unreadable || !t.Reset.Known {
			continue
		}
		r.told++
		refused := f.outcome == results.Limited && t.Remaining.Zero()
		if refused && r.after(t) {
			r.refused(f, t, need)
		}
		r.upTo(f, t)
		if refused && alone && r.after(t) && f.cost == 1 {
			k.last = claim{f.seq, f.hit.First, t.Reset}
		}
	}
}

// after reports whether quota is told to be there after the moment.
func (r *reset) after(t *fields.Told) bool {
	return t.Dialect != fields.Draft08 || r.draft > 0 && r.draft <= 10
}

// need is how long after a refusal was received one token takes to be there, at
// the fastest; 0: it may be there at once.
func (r *reset) need(s int, f *flight) time.Duration {
	for _, l := range r.purses[s] {
		p := l.(*purse)
		if missing := p.den - p.highest(&f.brief); missing > 0 && p.num > 0 && !f.torn {
			return time.Duration(missing / p.num * r.tick) // rounded down
		}
	}
	return 0
}

// refused looks at what a refusal with nothing left tells. Its Date may be written
// up to a second later than the moment was computed.
func (r *reset) refused(f *flight, t *fields.Told, need time.Duration) {
	m := t.Reset
	switch {
	case m.Wait < 0 && !m.Unit.Clocked(), m.Wait < -skew(m)-time.Second, m.Wait == 0 && m.Unit == fields.Seconds:
		r.past.add(f.hit, m, 0, true)
	case m.Wait+skew(m)+r.limits[r.i].Slack.Grace(m.Wait)+r.limits[r.i].Slack.Quantum < need:
		r.early.add(f.hit, m, need, true)
	}
}

// upTo looks for a moment that is later than all quota can come back.
func (r *reset) upTo(f *flight, t *fields.Told) {
	l, m := r.limits[r.i], t.Reset
	full := l.Fill()
	if full == 0 || l.Contract == scenarios.Concurrency || l.Contract == scenarios.BestEffort {
		return
	}
	most := full + m.Grain + skew(m) + time.Duration(f.hit.First-f.hit.Sent) + l.Slack.Grace(full) + r.lateBy
	switch {
	case m.Wait <= most:
	case t.Dialect == fields.XFields && m.Unit == fields.Seconds && m.Wait/1000 <= most:
		r.vague.add(f.hit, m, full, true)
	default:
		r.late.add(f.hit, m, full, t.Dialect != fields.Draft08 || r.after(t))
	}
}

// judge looks at what has become of a request that came at the moment told.
func (r *reset) judge(f *flight, by claim) {
	if !owned(r.limits) || f.cost > 1 {
		return // somebody else, or something else, may have refused
	}
	r.obeyed++
	if f.outcome != results.Limited {
		return
	}
	r.again.add(f.hit, by.moment, time.Duration(f.hit.Sent-by.at), true)
	if r.again.n == 1 {
		r.again.before = by.seq
	}
}

func (r *reset) tell() []results.Finding {
	if !r.some {
		return nil // as of what is left
	}
	f := results.Finding{Check: CheckReset, Limit: r.limits[r.i].Name}
	unit := func(m misled) string {
		return fmt.Sprintf("%s: %s, in %v", m.moment.Field, m.moment.Text, m.moment.Unit)
	}
	switch {
	case r.told == 0:
		f.Level, f.Text = results.Info, fmt.Sprintf("not asked: no answer tells when a limit of %d is reset", r.limits[r.i].Size())
	case r.past.n > 0:
		r.broken(&f, r.past, fmt.Sprintf("a refusal tells of a reset that is not to come (%s), on %s, first on request %d", unit(r.past), plural(r.past.n, "refusal"), r.past.h.Seq))
	case r.early.n > 0:
		r.broken(&f, r.early, fmt.Sprintf("reset is too early: on request %d in %s (%s), when no token can be there for %s; so on %s",
			r.early.h.Seq, duration(int64(r.early.moment.Wait)), unit(r.early), duration(int64(r.early.truth)), plural(r.early.n, "refusal")))
		f.Proof = fmt.Sprintf("%s < %s, in which at %v the first token comes at the earliest", duration(int64(r.early.moment.Wait)), duration(int64(r.early.truth)), r.limits[r.i].Rate)
	case r.again.n > 0:
		r.broken(&f, r.again, fmt.Sprintf("reset is too early: request %d was told of one in %s (%s), request %d came %s later with nothing between them, and was refused again; so were %d of %d that waited for it",
			r.again.before, duration(int64(r.again.moment.Wait)), unit(r.again), r.again.h.Seq, duration(int64(r.again.truth)), r.again.n, r.obeyed))
		f.Seqs = []int64{r.again.before, r.again.h.Seq}
	case r.late.n > 0:
		r.broken(&f, r.late, fmt.Sprintf("reset is too late: on request %d in %s (%s), when even an empty key is full within %s%s; so on %s",
			r.late.h.Seq, duration(int64(r.late.moment.Wait)), unit(r.late), duration(int64(r.late.truth)), thousand(r.late), plural(r.late.n, "answer")))
		if !r.late.sure {
			f.Level = results.Should
		}
	case r.vague.n > 0:
		r.broken(&f, r.vague, fmt.Sprintf("reset does not say its unit: on request %d %s would be %s, when even an empty key is full within %s; in milliseconds it would be true; so on %s",
			r.vague.h.Seq, unit(r.vague), duration(int64(r.vague.moment.Wait)), duration(int64(r.vague.truth)), plural(r.vague.n, "answer")))
		f.Level = results.Should
	default:
		f.Status = results.Kept
		f.Text = fmt.Sprintf("no reset is told that cannot be true (%s told, %d waited for)", plural(r.told, "moment"), r.obeyed)
	}
	return []results.Finding{f}
}

// thousand says that a number is of milliseconds, where it seems to be.
func thousand(m misled) string {
	if ratio := m.moment.Wait / max(m.truth, time.Millisecond); ratio >= 100 && ratio <= 1000 {
		return ", as if it were milliseconds"
	}
	return ""
}

func (r *reset) broken(f *results.Finding, m misled, text string) {
	f.Status, f.Key, f.Seqs, f.Text = results.Broken, m.h.Key, []int64{m.h.Seq}, text
	if r.limits[r.i].Key.Kind == scenarios.KeyNone {
		f.Key = ""
	}
	f.FromNS, f.ToNS = m.h.Sent, m.h.First
	f.Got, f.Allowed, f.Unit = m.moment.Wait.Seconds(), m.truth.Seconds(), "s"
}

func (r *reset) proven() (string, bool) {
	if r.limits[r.i].Contract == scenarios.BestEffort {
		return CheckReset, false // which is only told
	}
	return CheckReset, r.past.n > 0 || r.early.n > 0 || r.again.n > 0 || r.late.sure
}
