package assertions

import (
	"fmt"
	"slices"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckCarried is the id of whether what was spent stays spent across a restart, a
// reload or an outage.
const CheckCarried = "budget.carried"

// episode is something that a budget may not outlive: from and to are when it may have
// begun and when all is as before, prev and next when something else was done.
type episode struct {
	mark                 results.Mark
	from, to, prev, next int64
}

// episodes are those whose end is on record, in order.
func (a *acted) episodes() (all []episode) {
	for i, m := range a.marks {
		if m.Kind != results.MarkFault || m.Back || !endangers(m) {
			continue
		}
		x := episode{mark: m, from: m.At, to: m.To, next: results.Never}
		for _, before := range a.marks[:i] {
			x.prev = max(x.prev, before.To)
		}
		later := a.marks[i+1:]
		if lasts := !restores(m) && scenarios.Act(m.Act) != scenarios.Command || expected(m).Policy != ""; lasts && !restores(m) {
			n := slices.IndexFunc(later, restores)
			if n < 0 {
				continue
			}
			x.to, later = later[n].To, later[n+1:]
		}
		if want := expected(m); want.Policy != "" {
			x.to += int64(want.Recovers)
		}
		for _, m := range later {
			x.next = min(x.next, m.At)
		}
		if len(a.undos) > 0 {
			x.next = min(x.next, a.undos[0].At)
		}
		all = append(all, x)
	}
	return all
}

// endangers reports whether a fault may cost a limiter what it remembers.
func endangers(m results.Mark) bool {
	switch scenarios.Act(m.Act) {
	case scenarios.ProcessRestart, scenarios.ProcessReload, scenarios.ProcessKill, scenarios.ProcessStop, scenarios.StoreCut, scenarios.Command:
		return true
	}
	return scenarios.Act(m.Act) == scenarios.ProcessPause && m.On == scenarios.OnStore
}

// carried are the findings about what was spent. What was admitted while it lasted is
// left out, since others than the limit may have decided; of what is left no window
// may hold more than the limit allows in one, and only one that reaches across proves
// that something was forgotten.
func (a *aftermath) carried() (found []results.Finding) {
	for _, x := range a.acted.episodes() {
		for _, l := range a.limits {
			if l.Contract == scenarios.BestEffort || l.Contract == scenarios.Concurrency || !a.acted.whole(l, x.prev, min(x.next, results.Never-1)) {
				continue
			}
			f := a.across(x, l)
			doubted(&f, x.mark)
			found = append(found, f)
		}
	}
	return found
}

func (a *aftermath) across(x episode, l scenarios.Limit) results.Finding {
	f := results.Finding{Check: CheckCarried, Limit: l.Name, FromNS: x.from, ToNS: x.to}
	what := fmt.Sprintf("%s (at %s)", x.mark.Text, instant(x.from))
	if expected(x.mark).Fresh {
		f.Level, f.Text = results.Info, "not asked: it was declared that budgets begin anew behind: "+what
		return f
	}
	before, behind := a.beside(x)
	over := exceeded(l, append(slices.Clone(before), behind...), a.tick)
	reaches := over.Status == results.Broken && over.FromNS < x.from && over.ToNS > x.to
	switch {
	case reaches && exceeded(l, before, a.tick).Status != results.Broken && exceeded(l, behind, a.tick).Status != results.Broken:
		f.Status, f.Key, f.Got, f.Allowed, f.Unit, f.Proof = results.Broken, over.Key, over.Got, over.Allowed, over.Unit, over.Proof
		f.FromNS, f.ToNS = over.FromNS, over.ToNS
		f.Text = fmt.Sprintf("what was spent did not stay spent across this: %s: %s, and neither side of it has too many by itself; declare it with --expect fresh where budgets may begin anew", what, over.Text)
		for _, h := range append(before, behind...) {
			if h.Key == over.Key && h.Sent >= over.FromNS && h.First <= over.ToNS {
				f.Seqs = append(f.Seqs, h.Seq)
			}
		}
	case over.Status == results.Broken:
		f.Level, f.Text = results.Info, "not asked: too much was admitted beside it: "+what
	default:
		a.remembered(&f, x, l, what)
	}
	return f
}

// beside are the admissions in front of an episode and behind it.
func (a *aftermath) beside(x episode) (before, behind []results.Hit) {
	for _, h := range a.hits {
		if h.outcome != results.Admitted {
			continue
		}
		hit := results.Hit{Seq: h.seq, Key: h.key, Cost: h.cost, Sent: h.sent, First: h.first, Done: h.done, Outcome: h.outcome}
		switch {
		case h.sent > x.prev && h.first < x.from:
			before = append(before, hit)
		case h.sent > x.to && h.first < x.next:
			behind = append(behind, hit)
		}
	}
	return before, behind
}

// remembered says how it shows that something was remembered: who has spent before is
// refused before a fresh budget would be gone.
func (a *aftermath) remembered(f *results.Finding, x episode, l scenarios.Limit, what string) {
	spent, since := map[string]bool{}, map[string]int64{}
	for _, h := range a.hits {
		switch {
		case h.first < x.from:
			spent[h.key] = spent[h.key] || h.outcome == results.Admitted
		case h.first >= x.next || !spent[h.key]:
		case h.outcome == results.Admitted:
			since[h.key] += h.cost
		case h.sent > x.to && since[h.key]+h.cost <= l.Size() && len(a.limits) == 1:
			f.Status, f.Key, f.Seqs = results.Kept, h.key, []int64{h.seq}
			f.Text = fmt.Sprintf("what was spent stayed spent across this: %s: a client was refused behind it after %d of %d admissions", what, since[h.key], l.Size())
			return
		}
	}
	f.Level, f.Text = results.Info, "not asked: nobody asked for so much that a fresh budget would have shown behind: "+what
}
