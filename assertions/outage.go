package assertions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckOutage is the id of what a limiter does while its store is away, against what
// was declared.
const CheckOutage = "outage.policy"

// outages asks what a limiter does while its store is away, and when it is itself again.
//
// What was sent when the store was surely away, and answered before anything was done to
// bring it back, was decided without it: that is the proof. What the limiter looks like
// meanwhile is a conjecture from all of it, and no status rests on that.
type outages struct {
	acted  *acted
	limits []scenarios.Limit
	tick   time.Duration // of the client's clock
	hits   []results.Hit // that were sent since the first one began
	full   bool          // there were more
}

func newOutages(a *acted, limits []scenarios.Limit, tick time.Duration) *outages {
	return &outages{acted: a, limits: limits, tick: tick}
}

func (o *outages) check() string { return CheckOutage }
func (o *outages) trim(int64)    {}

func (o *outages) hear(events []event) {
	if !slices.ContainsFunc(o.acted.marks, func(m results.Mark) bool { _, ok := takesStore(m); return ok }) {
		return
	}
	for _, e := range events {
		switch {
		case e.kind != ends || o.full:
		case len(o.hits) == sampleSize:
			o.full = true
		default:
			o.hits = append(o.hits, *e.f.hit)
		}
	}
}

func (o *outages) tell() (found []results.Finding) {
	slices.SortStableFunc(o.hits, func(a, b results.Hit) int { return cmp.Compare(a.Sent, b.Sent) })
	for _, x := range o.acted.absences() {
		var inside, behind []results.Hit
		pending := 0
		for i := range o.hits {
			switch h := &o.hits[i]; {
			case x.holds(h):
				inside = append(inside, *h)
			case x.pends(h) && (x.want.Policy == scenarios.ExpectHang || x.want.Policy == ""):
				inside = append(inside, x.unanswered(*h))
			case x.pends(h): // it may only take its time to notice
				pending++
			case x.follows(h):
				behind = append(behind, *h)
			}
		}
		s := newMeanwhile(&x, inside)
		s.pending = pending
		f := o.policy(&x, &s)
		doubted(&f, x.mark)
		found = append(found, f)
		if f, ok := o.recovery(&x, &s, behind); ok {
			doubted(&f, x.mark)
			found = append(found, f)
		}
	}
	return found
}

// policy is the finding about one absence.
func (o *outages) policy(x *absence, s *meanwhile) (f results.Finding) {
	f = results.Finding{Check: CheckOutage, Limit: o.limits[0].Name, FromNS: x.begun, ToNS: x.over}
	if x.over == results.Never && len(s.hits) > 0 {
		f.ToNS = s.hits[len(s.hits)-1].Done
	}
	when := fmt.Sprintf("while the store was %s (%s, at %s)", x.how(), x.mark.Text, instant(x.mark.At))
	switch wrong, why := o.against(x, s); {
	case len(s.hits) == 0:
		f.ToNS = x.begun
		f.Text = when + " nothing was sent and answered"
		if s.pending > 0 {
			f.Text = fmt.Sprintf("%s none of %s was answered: it may take the limiter as long to notice, or it hangs; let it last longer (for:), or declare hang", when, plural(int64(s.pending), "request"))
		}
		if x.want.Policy == "" {
			f.Level = results.Info
		}
	case x.want.Policy == "":
		f.Level, f.Status = results.Info, results.Kept
		f.Text = fmt.Sprintf("%s %s; %s", when, s, s.like(x))
	case len(wrong) > 0:
		f.Status, f.Got, f.Unit, f.Key = results.Broken, float64(len(wrong)), "requests", wrong[0].Key
		for _, h := range wrong[:min(len(wrong), 8)] {
			f.Seqs = append(f.Seqs, h.Seq)
		}
		f.Text = fmt.Sprintf("%s it was declared to be %s%s, and %s", when, x.want.Policy, why, s)
		if like := s.like(x); like != "" {
			f.Text += "; " + like
		}
		f.Proof = witnessOf(x, &wrong[0])
	case x.want.Policy == scenarios.ExpectFrozen && s.counts[seenLimited] == 0:
		f.Text = fmt.Sprintf("%s nothing was refused, which frozen may mean, and open as well: %s", when, s)
	case o.telling(x, s) < few:
		f.Text = fmt.Sprintf("%s nothing contradicts %s, which fewer than %d requests do not show: %s; let it last longer (for:), or send more meanwhile", when, x.want.Policy, few, s)
	case x.slow:
		f.Status = results.Kept
		f.Text = fmt.Sprintf("%s it was declared to be %s, and nothing was answered that neither that nor the store itself would have: %s", when, x.want.Policy, s)
	default:
		f.Status = results.Kept
		f.Text = fmt.Sprintf("%s it was %s, as declared: %s", when, x.want.Policy, s)
	}
	return f
}

// how is what has happened to the store, in a word.
func (x *absence) how() string {
	if x.slow {
		return "slow"
	}
	return "away"
}

// witnessOf is why a request was surely decided without the store.
func witnessOf(x *absence, h *results.Hit) string {
	answered := fmt.Sprintf("answered %s at %s", answerOf(h), instant(h.First))
	if !h.Answered() {
		answered = fmt.Sprintf("not answered until %s, when it was given up", instant(h.Done))
	}
	until := "which lasted to the end"
	if x.over != results.Never {
		until = fmt.Sprintf("and nothing was done to bring it back before %s", instant(x.over))
	}
	return fmt.Sprintf("request %d was sent at %s and %s; the store was %s from %s on, %s", h.Seq, instant(h.Sent), answered, x.how(), instant(x.mark.To), until)
}

// answerOf is what a request was answered with.
func answerOf(h *results.Hit) string {
	if h.Status > 0 {
		return fmt.Sprintf("%v (%d)", h.Outcome, h.Status)
	}
	return h.Outcome.String()
}

// against are the requests that contradict what was declared, and how.
func (o *outages) against(x *absence, s *meanwhile) (wrong []results.Hit, why string) {
	lost := 0
	for i := range s.hits {
		h := &s.hits[i]
		switch k := kindOf(h); {
		case allowsBy(x.want.Policy, k, h):
		case x.slow && (k == seenAdmitted || k == seenLimited): // the store may have answered
		case k == seenLost || k == seenOther, k == seenSilent && x.want.Policy != scenarios.ExpectHang:
			lost++
		default:
			wrong = append(wrong, *h)
		}
	}
	if lost == len(s.hits) && lost >= few { // one may be lost on the way, all are not
		wrong = s.hits
	}
	if len(wrong) > 0 {
		return wrong, ""
	}
	switch p := x.want.Policy; {
	case len(o.limits) > 1 || !o.acted.whole(o.limits[0], x.begun, x.over) || x.slow && (p == scenarios.ExpectOpen || p == scenarios.ExpectFrozen || p == scenarios.ExpectLocal):
		return nil, ""
	case x.slow: // what is let through is let through by the store
		return o.beyond(s, o.limits[0], " (or by the store to the limit)")
	case p == scenarios.ExpectFrozen:
		return s.changed()
	case p == scenarios.ExpectLocal:
		l := x.want.Local(o.limits[0])
		return o.beyond(s, l, fmt.Sprintf(", %s on %s", terms(l), plural(max(x.want.Nodes, 1), "node")))
	}
	return nil, ""
}

// telling is how many requests were answered as declared, or as the store may have.
func (o *outages) telling(x *absence, s *meanwhile) (n int) {
	for i := range s.hits {
		k := kindOf(&s.hits[i])
		if allowsBy(x.want.Policy, k, &s.hits[i]) || x.slow && (k == seenAdmitted || k == seenLimited) {
			n++
		}
	}
	return n
}

// few is from how many requests on it is no accident that all of them are lost, or
// answered as declared.
const few = 5

// verb is a word that goes with so many.
func verb(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// allowsBy reports whether an answer is one of the policy's.
func allowsBy(p scenarios.Expect, k seenKind, h *results.Hit) bool {
	switch p {
	case scenarios.ExpectOpen:
		return k == seenAdmitted
	case scenarios.ExpectClosed:
		return k == seenLimited || k == seenFailed
	case scenarios.ExpectError:
		return h.Status >= 500
	case scenarios.ExpectHang:
		return k == seenSilent
	}
	return k == seenAdmitted || k == seenLimited // of a budget, or as before
}

// beyond are requests that a limit does not explain, such as a budget of its own for
// each node. From below it is not asked: whether that was full is not known.
func (o *outages) beyond(s *meanwhile, l scenarios.Limit, says string) (wrong []results.Hit, why string) {
	f := exceeded(l, s.hits, o.tick)
	if f.Status != results.Broken {
		return nil, ""
	}
	for i := range s.hits {
		if h := &s.hits[i]; h.Key == f.Key && h.Outcome == results.Admitted && h.Sent >= f.FromNS && h.First <= f.ToNS {
			wrong = append(wrong, *h)
		}
	}
	return wrong, says + ", where " + f.Text
}

// exceeded is the finding about whether more was admitted of some requests than a limit
// allows, whatever else there was.
func exceeded(l scenarios.Limit, hits []results.Hit, tick time.Duration) (f results.Finding) {
	j, err := New([]scenarios.Limit{l}, Options{Tick: tick, NoCauses: true, NoResolution: true, Checks: []string{CheckUpper}})
	if err != nil {
		return results.Finding{Check: CheckUpper}
	}
	for _, b := range results.Blocks(slices.Clone(hits)) {
		j.Block(b)
	}
	for _, f := range j.Verdict(&results.Run{Sent: int64(len(hits))}).Findings {
		if f.Check == CheckUpper {
			return f
		}
	}
	return results.Finding{Check: CheckUpper}
}

// listed is what there is of each, most of all first.
func listed(counts map[string]int) string {
	var names []string
	for n := range counts {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for i, n := range names {
		names[i] = fmt.Sprintf("%d %s", counts[n], n)
	}
	return strings.Join(names, ", ")
}
