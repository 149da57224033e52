package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/reduction"
)

// charge is the broken promise that a smaller scenario is to break again.
type charge struct{ check, limit string }

func (c charge) in(findings []results.Finding) (results.Finding, bool) {
	i := slices.IndexFunc(findings, func(f results.Finding) bool {
		return f.Check == c.check && f.Limit == c.limit && f.Status == results.Broken && f.Level == results.Must
	})
	if i < 0 {
		return results.Finding{}, false
	}
	return findings[i], true
}

// charged is the finding that is looked into: the one with the id that is asked for,
// or the one that the run's first line tells of.
func (e *earlier) charged(check string) (results.Finding, error) {
	var all []results.Finding
	for _, f := range e.findings {
		if f.Status == results.Broken && f.Level == results.Must && (check == "" || f.Check == check) {
			all = append(all, f)
		}
	}
	switch {
	case len(all) == 0 && check != "":
		return results.Finding{}, fmt.Errorf("--check %s is not broken in %s: broken is %s", check, e.folder, strings.Join(append(broken(e.findings), "nothing")[:max(len(broken(e.findings)), 1)], ", "))
	case len(all) == 0:
		return results.Finding{}, fmt.Errorf("%s broke no promise, so there is nothing to shrink", e.folder)
	}
	if i := slices.IndexFunc(all, func(f results.Finding) bool { return f.Text == e.headline }); i > 0 {
		return all[i], nil
	}
	return all[0], nil
}

// suspects are scenarios that may break the promise again, roughly the smallest
// first: what shows such a fault if it is one of the common kinds, the requests that
// prove it, all of their client, the phases on that client, and at last the whole
// plan.
func (e *earlier) suspects(f results.Finding) (all []*scenarios.Scenario, err error) {
	s := e.asked()
	s.Name = "shrunk: " + f.Check
	s.Checks, s.Wanted, s.Keys = []string{f.Check}, 0, nil
	with := func(phases []scenarios.Phase) {
		c := *s
		c.Phases = phases
		all = append(all, reduction.Timely(&c, scenarios.Supply{Given: e.saved.Manifest.Keys}))
	}
	if len(s.Actions) > 0 { // what is fired stays where it was, beside them
		err := e.beside(f, s, with)
		return all, err
	}
	for _, phases := range shapes(s, f) {
		with(phases)
	}
	recordings, err := e.recordings(f, s.Phases)
	if err != nil {
		return nil, err
	}
	for _, phases := range recordings {
		with(phases)
	}
	if same := e.phasesOf(f, s.Phases); len(same) > 0 && len(same) < len(s.Phases) {
		with(same)
	}
	with(s.Phases)
	return all, nil
}

// beside gives the suspects of a run in which something was done to the server, whose
// moments stay as they are.
func (e *earlier) beside(f results.Finding, s *scenarios.Scenario, with func([]scenarios.Phase)) error {
	recordings, err := e.recordings(f, s.Phases)
	if err != nil {
		return err
	}
	for _, phases := range recordings[len(recordings)/2:] { // those that were not moved
		with(phases)
	}
	with(s.Phases)
	return nil
}

// beforeVolley is how early in a run a volley can be made ready.
const beforeVolley = 200 * time.Millisecond

// shapes are what shows the common ways to admit too much: one too many at once, and
// all that is admitted at once on both sides of an edge, wherever that lies. 15 of a
// hundred edges are missed so, but what passes is more than a bucket would have got
// in the meantime.
func shapes(s *scenarios.Scenario, f results.Finding) (all [][]scenarios.Phase) {
	l := limitNamed(s.Limits, f.Limit)
	size := int(l.Size())
	if f.Check != assertions.CheckUpper || size > scenarios.MostAttacked {
		return nil
	}
	one := scenarios.Keys{Fresh: 1}
	all = append(all, []scenarios.Phase{{Name: "breach", Rest: beforeVolley, Volley: size + 1, Keys: one, Held: true}})
	if fill := l.Fill(); l.Rate.Count > 0 && size > 1 && fill < time.Hour {
		all = append(all, []scenarios.Phase{
			{Name: "breach", Rest: beforeVolley, Volley: size, Keys: one},
			{Name: "breach again", Rest: (fill * 85 / 100).Round(time.Millisecond), Volley: size, Keys: scenarios.Keys{Of: "breach"}}})
	}
	return all
}

// limitNamed is the limit that a finding is about.
func limitNamed(limits []scenarios.Limit, name string) scenarios.Limit {
	for _, l := range limits {
		if l.Name == name {
			return l
		}
	}
	return limits[0]
}

// recordings are parts of the record as arrivals: what proves the finding, then more
// and more around it, first at the beginning of a run, then at the moments that they
// had.
func (e *earlier) recordings(f results.Finding, phases []scenarios.Phase) (all [][]scenarios.Phase, err error) {
	named := map[int64]bool{}
	for _, seq := range f.Seqs {
		named[seq] = true
	}
	own := func(h *results.Hit) bool { return f.Key == "" || h.Key == f.Key }
	windowed := f.ToNS > f.FromNS
	takes := []func(*results.Hit) bool{
		func(h *results.Hit) bool { return named[h.Seq] },
		func(h *results.Hit) bool { return windowed && own(h) && h.Sent >= f.FromNS && h.Sent <= f.ToNS },
		func(h *results.Hit) bool { return own(h) && (!windowed || h.Sent <= f.ToNS) },
	}
	var moved, still [][]scenarios.Phase
	for _, take := range takes {
		t := tape{phases: phases, given: len(e.saved.Manifest.Keys) > 0, only: take}
		for b, err := range e.saved.Blocks() {
			if err == nil { // what is missing makes a candidate that is worse, and no wrong one
				t.block(b)
			}
		}
		part, err := t.together()
		if errors.Is(err, errNothingSent) {
			continue
		}
		if err != nil {
			return nil, err
		}
		moved, still = append(moved, atOnce(part)), append(still, part)
	}
	return append(moved, still...), nil
}

// together is the record as one phase, where its phases do not vary their requests.
func (t *tape) together() ([]scenarios.Phase, error) {
	if slices.ContainsFunc(t.phases, func(p scenarios.Phase) bool { return !p.Vary.None() }) {
		return t.written()
	}
	held, apart := false, false
	for g := range t.groups {
		held, apart = held || t.phases[g.phase].Held, apart || t.phases[g.phase].Apart
	}
	t.given = true
	phases, err := t.written()
	if err != nil {
		return nil, err
	}
	p := &phases[0]
	p.Name, p.Held, p.Apart = "breach", held, apart
	if p.Keys.Fresh == 1 {
		for i := range p.Arrivals {
			p.Arrivals[i].Key = ""
		}
	}
	return phases, nil
}

// atOnce moves phases to the beginning of a run.
func atOnce(phases []scenarios.Phase) []scenarios.Phase {
	phases = slices.Clone(phases)
	first := *phases[0].At
	for _, p := range phases {
		first = min(first, *p.At)
	}
	for i := range phases {
		at := *phases[i].At - first + beforeVolley
		phases[i].At = &at
	}
	return phases
}

// phasesOf are the phases that fire on the finding's client, each on one key where
// it is on several.
func (e *earlier) phasesOf(f results.Finding, phases []scenarios.Phase) (same []scenarios.Phase) {
	i := slices.IndexFunc(phases, func(p scenarios.Phase) bool { return strings.HasPrefix(f.Key, p.Name+"/") })
	if f.Key == "" || i < 0 {
		return nil
	}
	root := map[string]bool{phases[i].Name: true}
	for _, p := range phases {
		if root[p.Name] || root[p.Keys.Of] && p.Keys.Of != "" {
			root[p.Name] = true
			p.At = nil
			same = append(same, p)
		}
	}
	return same
}
