package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
	"github.com/ratehammer/ratehammer/results/store"
	"github.com/ratehammer/ratehammer/scenarios"
)

// earlier is a saved run that is to be fired again, or a part of it.
type earlier struct {
	folder   string
	saved    *store.Run
	scenario *scenarios.Scenario // as it is saved, with the follow-ups of a breach
	findings []results.Finding   // of its verdict
	headline string
}

// openEarlier reads a run with its verdict: the one that was saved with it, or, of
// a run that never came to one, what its record says.
func openEarlier(folder string) (*earlier, error) {
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		if err == nil {
			err = fmt.Errorf("%s is no folder", folder)
		}
		return nil, &probes.Hinted{Err: err, Hint: "give the folder of a run; hammer runs lists them"}
	}
	saved, err := store.Open(folder)
	if err != nil {
		return nil, err
	}
	s, err := scenarios.Parse(folder+"/manifest.json, scenario", []byte(saved.Manifest.Scenario), assertions.IDs())
	if err != nil {
		return nil, err
	}
	e := &earlier{folder: folder, saved: saved, scenario: s}
	v, err := e.verdict()
	if err != nil {
		return nil, err
	}
	e.findings, e.headline = v.Findings, v.Headline
	return e, nil
}

func (e *earlier) verdict() (v results.Verdict, err error) {
	text, err := store.ReadVerdict(e.folder)
	if err == nil {
		var r report.Report
		if err := json.Unmarshal(text, &r); err != nil {
			return v, fmt.Errorf("reading the verdict in %s: %w", e.folder, err)
		}
		return results.Verdict{Status: r.Status, Headline: r.Headline, Findings: r.Findings}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return v, err
	}
	m := e.saved.Manifest
	j, err := newJudgement(e.scenario, judging{fresh: m.Nonce != "", tick: time.Duration(m.TickNS), undiagnosed: true})
	if err != nil {
		return v, err
	}
	blocks(e.saved.Blocks()).all(j.block)
	run := j.account(m)
	return j.conclude(&run), nil
}

// asked is the scenario without what was fired after a breach, to be changed at will.
func (e *earlier) asked() *scenarios.Scenario {
	s := *e.scenario
	s.Phases = slices.Clone(s.Phases[:s.Asked()])
	return &s
}

// serve starts the reference server again that the run was fired at, if it was one
// inside hammer that is gone by now; its admin side is what things are done to it by.
func (e *earlier) serve(s *scenarios.Scenario, by *acting) (closing func(), said string, err error) {
	m := e.saved.Manifest
	if !m.Embedded {
		return func() {}, "", nil
	}
	server, said, err := embed(s.Limits, m.Defects)
	if err != nil {
		return nil, "", fmt.Errorf("starting the reference server of %s again: %w", e.folder, err)
	}
	s.Target, by.tools.Admin = server.URL()+"/", server.AdminURL()
	return func() { server.Close() }, said, nil
}

// credentials puts headers that were given in the place of those that the record
// leaves out.
func credentials(s *scenarios.Scenario, given []scenarios.Header) error {
	var headers []scenarios.Header
	for _, h := range s.Request.Headers {
		again := slices.ContainsFunc(given, func(g scenarios.Header) bool { return strings.EqualFold(g.Name, h.Name) })
		switch {
		case again:
		case h.Value == scenarios.LeftOut:
			return &probes.Hinted{Err: fmt.Errorf("the header %s was left out of the record, since it may be a credential", h.Name),
				Hint: "give it again: --header '" + h.Name + ": ...'"}
		default:
			headers = append(headers, h)
		}
	}
	s.Request.Headers = append(headers, given...)
	return nil
}

// values are the keys that the server knows, where the run had such.
func (e *earlier) values(given []string) ([]string, error) {
	known := e.saved.Manifest.Keys
	if len(known) == 0 || known[0] != firstGiven {
		return given, nil
	}
	if len(given) < len(known) {
		return nil, &probes.Hinted{Err: fmt.Errorf("%s was fired on %d given keys, which are not in the record, and %d are given now", e.folder, len(known), len(given)),
			Hint: "give them again, in the same order: --keys FILE"}
	}
	return given[:len(known)], nil
}

// broken are the checks that a verdict calls broken and that weigh in, each with
// its limit where there are several.
func broken(findings []results.Finding) (names []string) {
	limits := map[string]bool{}
	for _, f := range findings {
		if f.Limit != "" {
			limits[f.Limit] = true
		}
	}
	for _, f := range findings {
		if f.Status != results.Broken || f.Level != results.Must {
			continue
		}
		name := f.Check
		if len(limits) > 1 {
			name += " of " + f.Limit
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// held is what a verdict comes to beside that of the run that was repeated.
func (e *earlier) held(v *results.Verdict) *report.Replay {
	if e == nil {
		return nil
	}
	then, now := broken(e.findings), broken(v.Findings)
	r := &report.Replay{Of: e.folder}
	for _, name := range then {
		if slices.Contains(now, name) {
			r.Again = append(r.Again, name)
		} else {
			r.Missing = append(r.Missing, name)
		}
	}
	for _, name := range now {
		if !slices.Contains(then, name) {
			r.New = append(r.New, name)
		}
	}
	r.Reproduced = len(r.Missing)+len(r.New) == 0
	r.Text = e.inWords(r)
	return r
}

func (e *earlier) inWords(r *report.Replay) string {
	list := func(names []string) string { return strings.Join(names, ", ") }
	text := ""
	switch {
	case r.Reproduced && len(r.Again) == 0:
		return "the same as " + e.folder + ": nothing is broken in either"
	case r.Reproduced:
		return "REPRODUCED  broken again as in " + e.folder + ": " + list(r.Again)
	case len(r.Again) > 0:
		text = "REPRODUCED IN PART  broken again as in " + e.folder + ": " + list(r.Again)
	case len(r.Missing) > 0:
		text = "NOT REPRODUCED"
	default:
		text = "ANOTHER RESULT  " + e.folder + " broke nothing"
	}
	if len(r.Missing) > 0 {
		text += "; broken in " + e.folder + " and not now: " + list(r.Missing)
	}
	if len(r.New) > 0 {
		text += "; broken only now: " + list(r.New)
	}
	return strings.Replace(text, "REPRODUCED; ", "REPRODUCED  ", 1)
}
