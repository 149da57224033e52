package assertions

import (
	"fmt"
	"slices"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckRemaining is the id of the truth of what is told to be left: never below
// nothing, and never more than there can be.
const CheckRemaining = "ratelimit.remaining"

// remaining holds what answers tell to be left of a limit against the most that
// can be, by each account of how the limit may be kept. It is wrong when no
// account has room for what was told. That less is told than there is misleads
// nobody into a refusal, and is advice.
//
// It hears the first 32,768 requests.
type remaining struct {
	*scene
	limits []scenarios.Limit
	i      int
	all    []reckoning
	low    []*pessimist // by slot; nil: the least that is left is not asked
	turns  []turns      // by slot
	blind  bool         // requests may be missing from the record

	some     bool // an answer tells of limits at all
	heard    int64
	told     int64
	negative wrongly // below nothing
	taken    wrongly // enough was left, and the next was refused by the same limit
	short    wrongly // less than there is for certain
}

// turns follows the requests of one key that come one after the other.
type turns struct {
	open  int
	alone *flight // the one in flight that no other has overlapped; nil: none
	last  prior   // the last answer, while nothing else has been sent
	by    prior   // the one before alone
}

// prior is an answer that told what is left. The zero prior is none.
type prior struct {
	seq  int64
	left []int64
}

// reckoning is one way in which a limit may be kept.
type reckoning struct {
	make func() []ledger
	keys [][]ledger // by slot
	over wrongly    // more than there can be
}

// wrongly counts what was told wrongly, and keeps the first.
type wrongly struct {
	n       int64
	h       results.Hit
	left    int64 // what was told
	allowed int64
	before  int64 // Seq of the answer that it contradicts; 0: the record as a whole does
}

func (w *wrongly) add(h *results.Hit, left, allowed int64) {
	if w.n++; w.n == 1 {
		w.h, w.left, w.allowed = *h, left, allowed
	}
}

func newRemaining(sc *scene, limits []scenarios.Limit, i int) *remaining {
	r := &remaining{scene: sc, limits: limits, i: i}
	for _, m := range ledgers(sc, limits[i]) {
		r.all = append(r.all, reckoning{make: m})
	}
	return r
}

func (r *remaining) check() string { return CheckRemaining }

func (r *remaining) trim(oldest int64) {
	for _, p := range r.low {
		if p != nil && p.refusals > 0 {
			p.trim(oldest)
		}
	}
}

func (r *remaining) hear(events []event) {
	for _, e := range events {
		if len(r.all) == 0 || r.heard >= sampleSize {
			return
		}
		switch e.kind {
		case tears:
			r.begin()
		case loses, regains:
			r.blind = r.blind || e.kind == loses
			for i := range r.turns {
				r.turns[i].alone, r.turns[i].last = nil, prior{}
			}
		case starts:
			r.start(e.f)
		case ends:
			r.end(e.f)
		}
	}
}

// begin lets all windows begin anew: more time has passed than we saw.
func (r *remaining) begin() {
	for i := range r.all {
		for _, ledgers := range r.all[i].keys {
			for _, l := range ledgers {
				l.forget()
			}
		}
	}
}

// grow makes room for a slot that is heard of for the first time.
func (r *remaining) grow(slot int) {
	for len(r.turns) <= slot {
		r.turns, r.low = append(r.turns, turns{}), append(r.low, nil)
		for i := range r.all {
			r.all[i].keys = append(r.all[i].keys, r.all[i].make())
		}
	}
}

// least is the bucket that holds the least, of a key that was new.
func (r *remaining) least(slot int, at int64) *pessimist {
	l := r.limits[r.i]
	switch l.Contract {
	case "", scenarios.TokenBucket, scenarios.GCRA, scenarios.Nginx:
	default:
		return nil
	}
	if r.low[slot] == nil && r.fresh && !r.blind && l.Key.Kind != scenarios.KeyNone {
		p := newPessimist(newTempo(l.Rate, -l.Slack.Under, r.length(), l.Burst, roundDown), l.Burst, at, true, r.step())
		r.low[slot] = &p
	}
	return r.low[slot]
}

func (r *remaining) start(f *flight) {
	s := int(slot(r.limits[r.i], f.key))
	r.grow(s)
	r.turns[s].start(f, r.blind)
	for i := range r.all {
		for _, l := range r.all[i].keys[s] {
			l.start(&f.brief)
		}
	}
	if p := r.least(s, f.from); p != nil {
		p.refuse(f.from) // so that the lowest since then is kept
		if f.spends() {
			p.spend(f.from, f.cost)
		}
	}
}

func (r *remaining) end(f *flight) {
	s := int(slot(r.limits[r.i], f.key))
	r.heard++
	var left []int64
	if f.speaks() {
		left = r.left(f)
	}
	for i := range r.all {
		a := &r.all[i]
		for _, l := range a.keys[s] {
			if most, ok := l.end(&f.brief, left...); !ok {
				a.over.add(f.hit, slices.Max(left), most)
			}
		}
	}
	r.lowest(f, s, left)
	if by, alone := r.turns[s].end(f, left); alone && len(by.left) > 0 {
		r.next(f, left, by)
	}
	if len(left) > 0 {
		r.told++
	}
}

func (k *turns) start(f *flight, blind bool) {
	k.alone, k.by = nil, prior{}
	if k.open == 0 && !blind {
		k.alone, k.by = f, k.last
	}
	k.last = prior{}
	k.open++
}

// end gives the answer before f, if no other request has come between or beside
// the two.
func (k *turns) end(f *flight, left []int64) (by prior, alone bool) {
	k.open--
	if k.alone != f {
		return prior{}, false
	}
	by = k.by
	k.alone, k.last = nil, prior{f.seq, left}
	return by, true
}

// left is what an answer tells to be left of the limit.
func (r *remaining) left(f *flight) (left []int64) {
	r.some = r.some || f.announces()
	for _, t := range f.about(r.limits, r.i) {
		switch {
		case !t.Remaining.Told:
		case t.Remaining.N < 0:
			r.negative.add(f.hit, t.Remaining.N, 0)
		default:
			left = append(left, t.Remaining.N)
		}
	}
	return left
}

// lowest asks whether less is told than there is for certain. A token is granted:
// whole ones are told, and some keep one back.
func (r *remaining) lowest(f *flight, s int, left []int64) {
	p := r.low[s]
	if p == nil {
		return
	}
	low := p.refused(f.from, f.to)
	if f.spends() {
		p.spent(f.to, f.cost)
	}
	for _, n := range left {
		if p.weigh(n+2) <= low.level {
			r.short.add(f.hit, n, low.level/p.den)
			return
		}
	}
}

// next holds an answer against the one before it, where nothing was sent between
// the two: enough was left, and yet this one is refused and says that its limit
// has not got it. Where limits are several, or others may use the key, somebody
// else may have taken it.
func (r *remaining) next(f *flight, left []int64, by prior) {
	if f.outcome != results.Limited || !r.fresh || !owned(r.limits) {
		return
	}
	if len(left) != len(by.left) || slices.Min(by.left) < f.cost || slices.Max(left) >= f.cost {
		return
	}
	r.taken.add(f.hit, by.left[0], left[0])
	if r.taken.n == 1 {
		r.taken.before = by.seq
	}
}

// tell has nothing to say where no answer tells of any limit: that is said once,
// by the check of the syntax.
func (r *remaining) tell() []results.Finding {
	if !r.some {
		return nil
	}
	f := results.Finding{Check: CheckRemaining, Limit: r.limits[r.i].Name}
	over := r.over()
	switch {
	case len(r.all) == 0:
		f.Level, f.Text = results.Info, "not asked: what is left of such a limit cannot be known from outside"
	case r.negative.n > 0:
		r.broken(&f, r.negative, fmt.Sprintf("less than nothing is told to be left, on %s: %d on request %d",
			plural(r.negative.n, "answer"), r.negative.left, r.negative.h.Seq))
	case over != nil:
		r.broken(&f, *over, fmt.Sprintf("more is told to be left than there can be, on %s: %d on request %d, where %d is the most",
			plural(over.n, "answer"), over.left, over.h.Seq, over.allowed))
		f.Proof = fmt.Sprintf("%d told > %d, the most that %s leave after what was surely admitted", over.left, over.allowed, terms(r.limits[r.i]))
	case r.taken.n > 0:
		r.broken(&f, r.taken, fmt.Sprintf("what is told to be left is not there, on %s: %d after request %d, and request %d, the next, was refused with %d left",
			plural(r.taken.n, "answer"), r.taken.left, r.taken.before, r.taken.h.Seq, r.taken.allowed))
		f.Seqs = []int64{r.taken.before, r.taken.h.Seq}
	case r.told == 0:
		f.Level, f.Text = results.Info, "not asked: no answer tells what is left of a limit of "+fmt.Sprint(r.limits[r.i].Size())
	case r.short.n > 0:
		r.broken(&f, r.short, fmt.Sprintf("less is told to be left than there is, on %s: %d on request %d, where at least %d are",
			plural(r.short.n, "answer"), r.short.left, r.short.h.Seq, r.short.allowed))
		f.Level = results.Should
	default:
		f.Status = results.Kept
		f.Text = fmt.Sprintf("never more is told to be left than there can be (%s)", plural(r.told, "answer"))
	}
	return []results.Finding{f}
}

// over is what the account has against it that explains most; nil: one explains all.
func (r *remaining) over() (least *wrongly) {
	for i := range r.all {
		w := &r.all[i].over
		if w.n == 0 {
			return nil
		}
		if least == nil || w.n < least.n {
			least = w
		}
	}
	return least
}

func (r *remaining) broken(f *results.Finding, w wrongly, text string) {
	f.Status, f.Key, f.Seqs = results.Broken, w.h.Key, []int64{w.h.Seq}
	if r.limits[r.i].Key.Kind == scenarios.KeyNone {
		f.Key = ""
	}
	f.FromNS, f.ToNS = w.h.Sent, w.h.First
	f.Got, f.Allowed, f.Unit = float64(w.left), float64(w.allowed), "tokens"
	f.Text = text
}

func (r *remaining) proven() (string, bool) {
	return CheckRemaining, r.negative.n > 0 || r.taken.n > 0 || len(r.all) > 0 && r.over() != nil
}
