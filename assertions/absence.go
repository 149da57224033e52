package assertions

import (
	"slices"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// absence is a time in which a limiter's store was away, or hard to reach, on purpose.
type absence struct {
	mark  results.Mark
	want  scenarios.Expected
	slow  bool  // it was only harder to reach: a decision may be the store's all the same
	begun int64 // nanoseconds: what was sent behind it was decided without the store
	over  int64 // nanoseconds: what was answered before it too; Never: it lasted to the end
	back  int64 // nanoseconds: from here on the store is there again; Never: it was not
	next  int64 // nanoseconds: when the next thing was done behind that; Never: nothing was
}

// expected is what was declared of a fault. What cannot be read frees all of it: it is
// of a hammer that knows more.
func expected(m results.Mark) scenarios.Expected {
	x, err := scenarios.ParseExpect(scenarios.Expect(m.Free))
	if err != nil {
		x = scenarios.Expected{Policy: scenarios.ExpectOpen, Fresh: true, Notices: scenarios.DefaultNotices, Recovers: scenarios.DefaultRecovers}
	}
	return x
}

// restores reports whether a fault is the end of one that lasted.
func restores(m results.Mark) bool {
	switch scenarios.Act(m.Act) {
	case scenarios.ProcessRestart, scenarios.ProcessReload, scenarios.ProcessContinue, scenarios.StoreRestore:
		return true
	}
	return m.Back
}

// settled is when all may be expected to be as before, behind such an end.
func settled(m results.Mark) int64 { return m.To + max(away, int64(expected(m).Recovers)) }

// absences are those on record, in order. What was done to the store of one node of
// several is none: from outside it is not known which node answered.
func (a *acted) absences() (all []absence) {
	for i, m := range a.marks {
		slow, ok := takesStore(m)
		if !ok {
			continue
		}
		x := absence{mark: m, want: expected(m), slow: slow, begun: m.To, over: results.Never, back: results.Never, next: results.Never}
		x.begun += int64(max(x.want.Notices, scenarios.DefaultNotices))
		if len(a.undos) > 0 {
			x.over = a.undos[0].At
		}
		x.end(a.marks[i+1:])
		all = append(all, x)
	}
	return all
}

// takesStore reports whether a fault takes the store from a limiter, or slows it down.
func takesStore(m results.Mark) (slow, ok bool) {
	if m.Kind != results.MarkFault || m.Back || isNode(m.On) {
		return false, false
	}
	switch act := scenarios.Act(m.Act); act {
	case scenarios.StoreCut, scenarios.StoreDelay:
		return act == scenarios.StoreDelay, true
	case scenarios.ProcessPause, scenarios.ProcessKill, scenarios.ProcessStop:
		return false, m.On == scenarios.OnStore
	case scenarios.Command:
		return false, expected(m).Policy != ""
	}
	return false, false
}

// end finds out when it is over: with the next thing that is done, so that nothing is
// taken for decided without the store that may not be. It is back where that ends it.
func (x *absence) end(later []results.Mark) {
	n := slices.IndexFunc(later, func(m results.Mark) bool { return m.Kind == results.MarkFault })
	if n < 0 {
		return
	}
	x.over = min(x.over, later[n].At)
	if !restores(later[n]) {
		return
	}
	x.back = later[n].To
	for _, m := range later[n+1:] {
		x.next = min(x.next, m.At)
	}
}

// holds reports whether a request was surely decided while it lasted, or given up.
func (x *absence) holds(h *results.Hit) bool {
	if h.Answered() {
		return h.Sent > x.begun && h.First < x.over
	}
	return h.Sent > x.begun && h.Done < x.over
}

// pends reports whether a request was surely sent while it lasted, and had waited for a
// while without an answer when it was over, whatever came of it then. A store that is
// slow is waited for.
func (x *absence) pends(h *results.Hit) bool {
	return !x.slow && h.Sent > x.begun && x.over != results.Never && min(h.First, h.Done) >= x.over && x.over-h.Sent >= int64(scenarios.DefaultNotices)
}

// unanswered is such a request as it was when that was over.
func (x *absence) unanswered(h results.Hit) results.Hit {
	h.First, h.Done, h.Status, h.Outcome, h.Err = results.Never, x.over, 0, results.Unknown, results.NoAnswer
	return h
}

// follows reports whether a request was surely decided behind it, before something
// else was done.
func (x *absence) follows(h *results.Hit) bool {
	return x.back != results.Never && h.Sent > x.back && min(h.First, h.Done) < x.next
}
