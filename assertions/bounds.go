package assertions

import (
	"fmt"
	"strings"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckEnforced is the id of the plainest question: whether the limiter is
// there at all.
const CheckEnforced = "limit.enforced"

// CheckUpper is the id of the upper bound: in no window of time more is
// admitted than the contract allows in one of its length.
const CheckUpper = "bound.upper"

// CheckLower is the id of the lower bound: nothing is refused while every
// limit has room for it.
const CheckLower = "bound.lower"

// CheckWindow is the id of the question where fixed windows begin: some grid,
// or some sequence of requests that open them, must explain all that was
// admitted and refused.
const CheckWindow = "bound.window"

// bounds asserts what is admitted and refused, against all limits together.
type bounds struct {
	court   *court
	sample  *sample
	refused int64
	wrong   int64
	checks  []string       // that are asked for; empty: all
	keys    map[int32]bool // on which refusals were wrong
	worst   wrongRefusal   // the first
}

// wrongRefusal is the witness of a broken lower bound.
type wrongRefusal struct {
	f     *flight
	room  room
	limit int // the one that had least to spare
}

func newBounds(sc *scene, s *sample, limits []scenarios.Limit, checks []string) *bounds {
	return &bounds{court: newCourt(sc, limits), sample: s, checks: checks, keys: map[int32]bool{}}
}

func (b *bounds) check() string { return CheckUpper }

func (b *bounds) trim(oldest int64) {
	for _, ts := range b.court.all {
		for _, t := range ts {
			t.each(func(m model) { m.trim(oldest) })
		}
	}
}

func (b *bounds) hear(events []event) { b.court.hear(events, b.refusal) }

func (b *bounds) refusal(f *flight, r room, limit int) {
	b.refused++
	if f.wrong = r.wrong; !r.wrong {
		return
	}
	b.wrong++
	b.keys[f.key] = true
	if b.worst.f == nil {
		c := *f
		b.worst = wrongRefusal{&c, r, limit}
	}
}

func (b *bounds) tell() (found []results.Finding) {
	lower := b.lower()
	for i := range b.court.limits {
		upper := b.upper(i)
		found = append(found, b.enforced(upper), upper)
		if w, asked := b.window(i, b.broken(upper) || b.broken(lower)); asked {
			found = append(found, w)
		}
	}
	return append(found, lower)
}

// upper is the finding about the heaviest window under the first theory.
func (b *bounds) upper(i int) results.Finding {
	l := b.court.limits[i]
	h, slot, over, used := b.court.all[i][0].heaviest()
	f := results.Finding{Check: CheckUpper, Limit: l.Name}
	if l.Contract == scenarios.Concurrency {
		f.Level, f.Text = results.Info, "not asked: from outside nothing shows for how long a request was served"
		return f
	}
	if !h.any {
		f.Text = "nothing was admitted, so nothing could be too much"
		return f
	}
	f.Key, f.Unit, f.Got, f.Allowed = b.court.name(l, slot), "requests", h.got, h.allowed
	f.FromNS, f.ToNS = b.court.clock(h.from, h.to)
	relation := "<="
	if b.court.tooMuch(i) {
		f.Status, relation = results.Broken, ">"
		f.Text = fmt.Sprintf("%s admitted within %s, where %s allow %s",
			plural(int64(h.got), "request"), duration(f.ToNS-f.FromNS), terms(l), number(h.allowed))
		if used > 1 {
			f.Text += fmt.Sprintf("; too many on %d of %d keys", over, used)
		}
	} else {
		f.Status = results.Kept
		f.Text = "in no window was more admitted than " + terms(l) + " allow"
	}
	f.Proof = fmt.Sprintf("%s %s %s, %s over %s", number(h.got), relation, number(h.allowed), h.formula(l), duration(f.ToNS-f.FromNS))
	if s := l.Slack; s != (scenarios.Slack{}) {
		f.Proof += fmt.Sprintf(", a clock step of %s and %d ppm granted", duration(int64(s.Quantum)), s.Over)
	}
	return f
}

// enforced answers, from the bound's finding, whether anything is limited.
func (b *bounds) enforced(bound results.Finding) results.Finding {
	f := results.Finding{Check: CheckEnforced, Limit: bound.Limit}
	switch {
	case b.refused > 0:
		f.Status, f.Text = results.Kept, "it refuses ("+plural(b.refused, "refusal")+")"
	case bound.Status == results.Broken:
		f = bound
		f.Check, f.Status = CheckEnforced, results.Broken
		f.Text = fmt.Sprintf("no request was ever limited, although %s were admitted within %s and %s is the most that is allowed",
			number(f.Got), duration(f.ToNS-f.FromNS), number(f.Allowed))
	default:
		f.Text = "no request was limited, and none had to be: the limiter was not pushed" + b.heldBack(bound.Limit)
	}
	return f
}

// heldBack is a hint at a queue, beside the finding that nothing was refused.
func (b *bounds) heldBack(limit string) string {
	for _, l := range b.court.limits {
		if l.Name == limit {
			return b.sample.heldBack(l)
		}
	}
	return ""
}

func (b *bounds) lower() results.Finding {
	f := results.Finding{Check: CheckLower, Limit: b.court.limits[0].Name}
	switch {
	case b.refused == 0:
		f.Text = "nothing was refused, so nothing could be refused wrongly; what the limit allows was not asked for in full"
	case b.wrong == 0:
		f.Status = results.Kept
		f.Text = fmt.Sprintf("nothing was refused while the limit allowed it (%s)", plural(b.refused, "refusal"))
	default:
		f = b.tooLittle()
	}
	return f
}

func (b *bounds) tooLittle() results.Finding {
	x := b.worst
	l := b.court.limits[x.limit]
	f := results.Finding{
		Check: CheckLower, Status: results.Broken, Limit: l.Name, Key: x.f.hit.Key,
		Got: x.room.left, Allowed: float64(x.f.cost), Unit: "tokens", Seqs: []int64{x.f.seq},
	}
	f.FromNS, f.ToNS = min(b.court.answeredBy(x.room.since), x.f.hit.Sent), x.f.hit.First
	of := unit(l)
	if x.room.places {
		of, f.Unit = "places in the queue", "places"
	}
	f.Text = fmt.Sprintf("refused too much: request %d was refused although at least %s of %s %s were there",
		x.f.seq, number(x.room.left), number(x.room.of), of)
	if b.wrong > 1 {
		f.Text += fmt.Sprintf("; %d of %s were wrong, on %s", b.wrong, plural(b.refused, "refusal"), plural(int64(len(b.keys)), "key"))
	}
	f.Proof = fmt.Sprintf("%s >= %d, the request's cost, at every moment from %s to %s",
		number(x.room.left), x.f.cost, instant(x.f.hit.Sent), instant(x.f.hit.First))
	return f
}

// broken reports whether a finding says so and was asked for.
func (b *bounds) broken(f results.Finding) bool {
	return f.Status == results.Broken && scenarios.Covers(b.checks, f.Check)
}

// begins reports whether a contract speaks of periods that begin somewhere.
func begins(c scenarios.Contract) bool {
	switch c {
	case scenarios.FixedWindow, scenarios.SlidingCounter, scenarios.Lumps, scenarios.Quota:
		return true
	}
	return false
}

// window is the finding about where the windows begin; asked is false where a
// limit has none. Where a bound is broken already it adds nothing.
func (b *bounds) window(i int, broken bool) (f results.Finding, asked bool) {
	l := b.court.limits[i]
	if !begins(l.Contract) {
		return f, false
	}
	f = results.Finding{Check: CheckWindow, Limit: l.Name}
	switch {
	case len(b.court.limits) > 1:
		f.Level, f.Text = results.Info, "not asked: with several limits a refusal may be any one's"
	case broken:
		f.Level, f.Text = results.Info, "not asked: a bound is broken already"
	case b.court.refuted(i) || b.sample.unexplained(b.court, i):
		b.noWindows(&f, i)
	default:
		f.Status, f.Text = results.Kept, b.placed(i)
	}
	return f, true
}

// noWindows fills in the proof that no beginning explains the record.
func (b *bounds) noWindows(f *results.Finding, i int) {
	l := b.court.limits[i]
	f.Status = results.Broken
	f.Text = fmt.Sprintf("no beginning of periods of %s explains what was admitted and refused", duration(int64(l.Rate.Per)))
	if phase := b.elsewhere(i); phase != "" {
		f.Text = fmt.Sprintf("no periods that begin %s explain what was admitted and refused; periods that begin elsewhere do, such as at phase %s", b.since1970(i), phase)
	}
	if l.Contract == scenarios.Quota { // which names none
		f.Status = results.Inconclusive
		f.Text = fmt.Sprintf("none of the algorithms tried that keep %s explains what was admitted and refused: say which it is with --contract", terms(l))
	}
	if f.Status == results.Broken && !b.witnessed(f, i) {
		b.covered(f, i)
	}
}

// witnessed fills in a small part of the sample that no beginning explains; false:
// what speaks against the last of them came later than the sample.
func (b *bounds) witnessed(f *results.Finding, i int) bool {
	l := b.court.limits[i]
	part := b.sample.witness(b.court.limits, i)
	if part == nil {
		return false
	}
	keys := map[int32]bool{}
	admitted, refused := int64(0), int64(0)
	from, to := part.hits[0].from, int64(0)
	for n := range part.hits {
		h := &part.hits[n]
		keys[h.key] = true
		switch h.outcome {
		case results.Admitted:
			admitted++
		case results.Limited:
			refused++
		}
		if h.outcome == results.Admitted || h.outcome == results.Limited {
			from, to = min(from, h.from), max(to, h.to)
		}
		f.Seqs = append(f.Seqs, h.seq)
	}
	f.FromNS, f.ToNS = b.court.clock(from, to)
	on := fmt.Sprintf("on %d keys", len(keys))
	if len(keys) == 1 {
		on = "on one key"
		f.Key = b.court.name(l, int(part.hits[0].key))
	}
	f.Proof = fmt.Sprintf("no phase of 0 to %s explains these requests %s alone: %d admitted, %d refused, a clock step of %s granted",
		duration(int64(l.Rate.Per)), on, admitted, refused, duration(int64(l.Slack.Quantum)))
	if l.Align == scenarios.AlignEpoch {
		f.Proof += "; they begin " + strings.TrimSuffix(b.since1970(i), ",")
	}
	return true
}

// covered fills in refusals and admissions that together speak against each phase
// of a grid.
func (b *bounds) covered(f *results.Finding, i int) {
	l := b.court.limits[i]
	for _, t := range b.court.all[i] {
		if t.grid == nil {
			continue
		}
		cover := t.grid.cover(b.court.begins(t))
		if len(cover) == 0 {
			continue
		}
		for _, o := range cover {
			f.Seqs = append(f.Seqs, o.seq)
		}
		f.FromNS, f.ToNS = b.court.clock(cover[0].from, cover[len(cover)-1].to)
		f.Proof = fmt.Sprintf("each phase of 0 to %s is ruled out by one of %s", duration(int64(l.Rate.Per)), plural(int64(len(cover)), "request"))
		if s := b.court.begins(t); s != nil {
			f.Proof = fmt.Sprintf("each phase of %s to %s, where multiples of %s since 1970 lie %s, is ruled out by one of %s",
				duration(s.lo*b.court.tick), duration(s.hi*b.court.tick), duration(int64(l.Rate.Per)), b.court.dated.tells(l.Rate.Per), plural(int64(len(cover)), "request"))
		}
	}
}

// elsewhere is a phase that explains the record of a limit whose periods begin at
// multiples of their length since 1970, but for that; empty: there is none.
func (b *bounds) elsewhere(i int) string {
	for _, t := range b.court.all[i] {
		switch {
		case t.epoch == 0:
		case t.grid != nil && !t.grid.refuted(nil):
			widest, _ := t.grid.bad.gap()
			return duration(mod(widest.hi, t.grid.window) * b.court.tick)
		case t.phased != nil:
			head := b.sample.head()
			for _, p := range t.phased {
				if lo, _, ok := head.explained(head.moments(), b.court.limits, i, p); ok {
					return duration(lo * b.court.tick)
				}
			}
		}
	}
	return ""
}

// since1970 says where periods of a limit begin that begin at multiples of their
// length since 1970, and how that is known.
func (b *bounds) since1970(i int) string {
	per, d := b.court.limits[i].Rate.Per, b.court.dated
	if b.court.all[i][0].phased != nil { // which are searched for on the sample
		d = b.sample.head().dated(b.court)
	}
	return fmt.Sprintf("at multiples of %s since 1970, %s,", duration(int64(per)), d.tells(per))
}

// placed says where the periods begin, as far as it is known.
func (b *bounds) placed(i int) string {
	l := b.court.limits[i]
	var says []string
	for _, t := range b.court.all[i] {
		switch {
		case b.court.fails(t):
		case t.phased != nil:
			says = append(says, b.searched(i, t)...)
		case t.grid != nil:
			says = append(says, b.gridded(t))
		default:
			says = append(says, t.name)
		}
	}
	text := fmt.Sprintf("%s of %s explain the record", join(says, " or "), duration(int64(l.Rate.Per)))
	if l.Align == scenarios.AlignEpoch {
		text += ", " + strings.TrimSuffix(b.since1970(i), ",")
	}
	return text
}

// gridded says where a grid lies.
func (b *bounds) gridded(t *theory) string {
	out := t.grid.out(b.court.begins(t))
	switch widest, left := out.gap(); {
	case left == 0:
		return t.name + " of each key's own"
	case left < t.grid.window:
		return t.name + fmt.Sprintf(" (phase %s, known to %s)", duration(mod(widest.lo, t.grid.window)*b.court.tick), duration(left*b.court.tick))
	}
	return t.name
}

// searched says which accounts of a theory explain the sample, with which phases.
func (b *bounds) searched(i int, t *theory) (says []string) {
	for _, p := range t.phased {
		lo, _, apart, ok := b.sample.explains(b.court, i, t, p)
		said := strings.TrimSpace(t.name + " " + p.name)
		switch {
		case !ok:
			continue
		case apart:
			said += " (a phase for each key)"
		case p.period > 0:
			said += fmt.Sprintf(" (such as phase %s)", duration(lo*b.court.tick))
		}
		says = append(says, said)
	}
	return says
}
