package assertions

import (
	"fmt"
	"slices"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CauseChosen is the id of a budget that is chosen by something that any client can
// choose.
const CauseChosen = "keys.chosen"

// varied remembers of which keys a phase varied what makes no difference, and on
// which others somebody spoke for them. That is all that a finding's words need:
// the bounds judge those keys as they judge all others.
type varied struct {
	phases  []scenarios.Phase
	spoken  map[string]int32 // by name of a phase: the phase in which its keys were spoken for
	by      map[int32]int32  // by key: the phase that varied something on it
	victims map[int32]int32  // by key: the phase in which it was spoken for
	volleys map[int32]int64  // by key: how much was asked for at once, where that is more than there is
	size    int64            // of what there is
}

func newVaried(phases []scenarios.Phase, limits []scenarios.Limit) *varied {
	v := &varied{phases: phases, spoken: map[string]int32{}, by: map[int32]int32{}, victims: map[int32]int32{}, volleys: map[int32]int64{}}
	for i, p := range phases {
		if p.Vary.Other != "" {
			v.spoken[p.Vary.Other] = int32(i)
		}
	}
	for _, l := range limits {
		v.size = max(v.size, l.Size())
	}
	return v
}

func (v *varied) hear(events []event) {
	if len(v.phases) == 0 {
		return
	}
	for _, e := range events {
		if e.kind != starts || int(e.f.hit.Phase) >= len(v.phases) || e.f.hit.Phase < 0 {
			continue
		}
		i, key := e.f.hit.Phase, e.f.key
		p := &v.phases[i]
		if differs(p.Vary) {
			v.by[key] = i
		}
		if by, ok := v.spoken[p.Name]; ok {
			v.victims[key] = by
		}
		if int64(p.Volley) > v.size && p.Keys.Of == "" && p.Vary.None() && p.Cost < 2 {
			v.volleys[key]++
		}
	}
}

// differs reports whether anything is another from one request to the next: over a
// single connection nothing is.
func differs(v scenarios.Vary) bool {
	return !v.None() && (v.Part != scenarios.PartConnection || v.Connections > 1)
}

// how says in words what was varied.
func how(v scenarios.Vary) string {
	switch {
	case v.Part == scenarios.PartConnection:
		return fmt.Sprintf("over %d connections in turn", v.Connections)
	case v.Other != "":
		return fmt.Sprintf("with another client's address in %v", v)
	}
	return fmt.Sprintf("with %v changed each time", v)
}

// tellVaried adds to what is broken on such keys what was varied on them. That it
// was the reason is only said where the promise is kept on all others, as far as
// the bounds can tell.
func (j *Judge) tellVaried(found []results.Finding) {
	v := j.varied
	if len(v.by) == 0 {
		return
	}
	for i := range found {
		f := &found[i]
		if f.Status != results.Broken || f.Level != results.Must || f.Key == "" {
			continue
		}
		key := int32(slices.Index(j.scene.names, f.Key))
		by, chosen := v.by[key]
		victim, spoken := v.victims[key]
		switch f.Check {
		case CheckUpper, CheckWindow, CheckExact:
			if chosen {
				f.Text += ", " + how(v.phases[by].Vary)
				if f.Check != CheckExact && j.otherwiseKept(f.Limit) {
					f.Text += fmt.Sprintf(": %v chooses the budget", v.phases[by].Vary)
				}
			}
		case CheckLower:
			if spoken {
				f.Text += fmt.Sprintf(", after another client had written this one's address into %v", v.phases[victim].Vary)
				if j.otherwiseKept(f.Limit) {
					f.Text += ": who writes it there spends its budget"
				}
			}
		}
	}
}

// otherwiseKept reports whether a limit is kept on all keys on which nothing was
// varied and that nobody spoke for.
func (j *Judge) otherwiseKept(limit string) bool {
	i := slices.IndexFunc(j.limits, func(l scenarios.Limit) bool { return l.Name == limit })
	if i < 0 { // a refusal is any limit's
		i = 0
	}
	s := j.part(func(key int32) bool {
		_, chosen := j.varied.by[key]
		_, spoken := j.varied.victims[key]
		return !chosen && !spoken
	})
	return len(s.hits) > 0 && !s.try(s.moments(), j.limits, i)
}

// part is the sample's requests on some of the keys.
func (j *Judge) part(of func(key int32) bool) *sample {
	s := &sample{scene: j.scene, full: j.sample.full, until: j.sample.until}
	for _, h := range j.sample.hits {
		if of(h.key) {
			s.hits = append(s.hits, h)
		}
	}
	return s
}

// chosen is the cause of a breach that there is only where something is varied:
// each thing that brings fresh budgets, or spends another's.
func (j *Judge) chosen(found []results.Finding) (c results.Cause, ok bool) {
	bad := slices.IndexFunc(found, func(f results.Finding) bool {
		return f.Status == results.Broken && f.Level == results.Must && (f.Check == CheckUpper || f.Check == CheckLower || f.Check == CheckWindow || f.Check == CheckExact)
	})
	if bad < 0 || len(j.varied.by) == 0 || j.opts.NoCauses || len(j.limits) > 1 || !j.otherwiseKept(found[bad].Limit) {
		return c, false
	}
	var fresh, spent []string
	for n := range j.varied.phases {
		v := j.varied.phases[n].Vary
		mine := j.part(func(key int32) bool { by, is := j.varied.by[key]; return is && int(by) == n })
		if len(mine.hits) > 0 && mine.try(mine.moments(), j.limits, 0) && !slices.Contains(fresh, v.String()) {
			fresh = append(fresh, v.String())
		}
		theirs := j.part(func(key int32) bool { by, is := j.varied.victims[key]; return is && int(by) == n })
		if len(theirs.hits) > 0 && theirs.try(theirs.moments(), j.limits, 0) && !slices.Contains(spent, v.String()) {
			spent = append(spent, v.String())
		}
	}
	c = results.Cause{ID: CauseChosen, Limit: j.limits[0].Name, Explains: 1, Tried: 1, Only: true}
	switch {
	case len(fresh) > 0:
		c.Text = fmt.Sprintf("who changes %s has a fresh budget each time, and all who do not find the promise kept", join(fresh, " or "))
	case len(spent) > 0:
		c.Text = fmt.Sprintf("who writes another's address into %s spends that client's budget, and all others find the promise kept", join(spent, " or "))
	default:
		return c, false
	}
	if len(fresh) > 0 && len(spent) > 0 {
		c.Reasons = []string{fmt.Sprintf("who writes another's address into %s spends that client's budget", join(spent, " or "))}
	}
	return c, true
}

// tellTrials says of a bound that was kept how rare a breach may still be: what was
// not seen in n independent trials happens in fewer than 3/n of them, with 95 %
// (the rule of three: (1-p)^n = 0.05 at p = 3.0/n).
func (j *Judge) tellTrials(found []results.Finding) {
	n := 0
	for _, asked := range j.varied.volleys {
		if asked > j.varied.size {
			n++
		}
	}
	if n < fewestTrials {
		return
	}
	for i := range found {
		if f := &found[i]; f.Check == CheckUpper && f.Status == results.Kept && f.Level == results.Must {
			f.Text += fmt.Sprintf("; not once too much in %d volleys on keys of their own: what happens in a share p of them has p < 3/%d = %s %%, with 95 %%", n, n, digits3(300/float64(n)))
		}
	}
}

// fewestTrials are those of which it is worth saying.
const fewestTrials = 4
