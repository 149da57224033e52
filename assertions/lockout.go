package assertions

import (
	"fmt"
	"slices"

	"github.com/ratehammer/ratehammer/results"
)

// CheckLockout is the id of whether a move of the wall clock locks clients out.
const CheckLockout = "clock.lockout"

// locked is what a move of the clock did to clients that went on asking.
type locked struct {
	mark    results.Mark
	keys    []string // that were refused wrongly behind it
	seqs    []int64  // the first such refusal of each
	silence int64    // nanoseconds: the longest time without an admission, from the move on
	ended   bool     // an admission ended that
	wrong   int64    // requests that were refused wrongly
	first   int64    // nanoseconds: when the first of them was sent
	known   bool     // one of the clients was used before the move
	family  string   // the kind of reckoning that does this; empty: none that is known
	why     string   // it is not the move that did it; empty: it is
}

// lockout is the finding about all moves: the one that locked out for longest. The
// refusals are proofs; the formula and what it is of are a conjecture.
func (a *aftermath) lockout() (f results.Finding, ok bool) {
	var clocks []results.Mark
	for _, m := range a.acted.marks {
		if m.Kind == results.MarkClock {
			clocks = append(clocks, m)
		}
	}
	if len(clocks) == 0 {
		return f, false
	}
	l := a.limits[0]
	f = results.Finding{Check: CheckLockout, Limit: l.Name, FromNS: clocks[0].At, ToNS: clocks[len(clocks)-1].To}
	all := a.lockedOut(clocks)
	told := slices.DeleteFunc(slices.Clone(all), func(x locked) bool { return x.why != "" })
	switch {
	case slices.ContainsFunc(a.limits, byWall):
		f.Level, f.Text = results.Info, "not asked: windows may lie on the grid of the clock that was moved"
	case slices.ContainsFunc(a.hits, func(h lived) bool { return h.wrong && h.first < clocks[0].At }):
		f.Level, f.Text = results.Info, "not asked: clients were refused wrongly before the wall clock was moved"
	case len(all) == 0:
		f.Status, f.Text = results.Kept, fmt.Sprintf("nobody was refused wrongly behind %s of the wall clock", plural(int64(len(clocks)), "move"))
	case len(told) == 0:
		x := all[0]
		f.Level, f.Text = results.Info, fmt.Sprintf("not asked: behind %s at %s %s refused wrongly (request %d, %s), and %s: the move is not shown to be the reason",
			x.mark.Text, instant(x.mark.At), requestsWere(x.wrong), x.seqs[0], CheckLower, x.why)
	default:
		worst := slices.MaxFunc(told, func(x, y locked) int { return int(min(max(x.silence-y.silence, -1), 1)) })
		a.tellLocked(&f, worst, len(told))
	}
	unmoved(&f, clocks)
	return f, true
}

func (a *aftermath) tellLocked(f *results.Finding, x locked, moves int) {
	f.Status, f.Seqs = results.Broken, x.seqs[:min(len(x.seqs), 8)]
	f.FromNS, f.ToNS = x.mark.At, x.mark.At+x.silence
	f.Got, f.Allowed, f.Unit = seconds(x.silence), 0, "seconds"
	end := "for up to " + duration(x.silence)
	if !x.ended {
		end = "until the end of the run, " + duration(x.silence) + " later,"
	}
	n := len(x.keys)
	f.Text = fmt.Sprintf("locked out: behind %s at %s %s %s refused %s in spite of what was left to %s",
		x.mark.Text, instant(x.mark.At), plural(int64(n), "client"), were(n), end, verb(n, "it", "them"))
	if moves > 1 {
		f.Text += fmt.Sprintf("; so behind %d moves of the clock", moves)
	}
	if x.family != "" {
		f.Text += "; " + x.family
	}
	f.Proof = fmt.Sprintf("request %d was refused although there was room for it at every moment at which that can have been decided (%s)", x.seqs[0], CheckLower)
}

func requestsWere(n int64) string {
	return plural(n, "request") + " " + were(int(min(n, 2)))
}

// lockedOut are the moves behind which somebody was refused wrongly, until the next one.
func (a *aftermath) lockedOut(clocks []results.Mark) (all []locked) {
	byKey := map[string][]lived{}
	var keys []string
	for _, h := range a.hits {
		if byKey[h.key] == nil {
			keys = append(keys, h.key)
		}
		byKey[h.key] = append(byKey[h.key], h)
	}
	of := make([]locked, len(clocks))
	for _, key := range keys {
		for i, h := range byKey[key] {
			n := -1
			for n+1 < len(clocks) && clocks[n+1].At <= h.sent {
				n++
			}
			if !h.wrong || n < 0 {
				continue
			}
			x := &of[n]
			if x.wrong++; x.mark.To == 0 {
				x.mark, x.first = clocks[n], h.sent
			}
			x.first = min(x.first, h.sent)
			x.known = x.known || byKey[key][0].sent < clocks[n].At
			if !slices.Contains(x.keys, key) {
				x.keys, x.seqs = append(x.keys, key), append(x.seqs, h.seq)
			}
			if silence, ended := silenceAround(byKey[key], i, clocks[n].At); silence > x.silence {
				x.silence, x.ended = silence, ended
			}
		}
	}
	for n := range of {
		a.account(&of[n], byKey, clocks[:n+1])
	}
	return slices.DeleteFunc(of, func(x locked) bool { return len(x.keys) == 0 })
}

// silenceAround is the time without an admission around a request of a key, from a
// moment on; ended: an admission ended it.
func silenceAround(hits []lived, i int, from int64) (silence int64, ended bool) {
	for n := i; n >= 0 && hits[n].sent >= from; n-- {
		if hits[n].outcome == results.Admitted {
			from = hits[n].first
			break
		}
	}
	for _, h := range hits[i:] {
		if silence = h.sent - from; h.outcome == results.Admitted {
			return silence, true
		}
	}
	return silence, false
}

// freed reports whether clients were refused wrongly behind moves of the clock, and it is
// not shown that these are the reason.
func freed(found []results.Finding) bool {
	return slices.ContainsFunc(found, func(f results.Finding) bool {
		return f.Check == CheckLockout && f.Status != results.Broken
	})
}

// tied takes back a lockout where the bound that it rests on was taken back.
func tied(found []results.Finding) {
	if slices.ContainsFunc(found, func(f results.Finding) bool { return f.Check == CheckLower && f.Status == results.Broken }) {
		return
	}
	for i := range found {
		if f := &found[i]; f.Check == CheckLockout && f.Status == results.Broken {
			f.Status = results.Inconclusive
		}
	}
}
