package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
	"github.com/ratehammer/ratehammer/results/store"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// judging is what a judge is told beside the scenario.
type judging struct {
	fresh  bool
	tick   time.Duration
	strict bool
	// asked is how many phases ask whether the promise is kept, where the scenario does
	// not say it; 0: it does, or all ask.
	asked int
	// undiagnosed leaves out what a breach probably comes from.
	undiagnosed bool
}

// judgement is everything that looks at a record while it goes by.
type judgement struct {
	*look
	judge  *assertions.Judge
	phases []int64 // requests by phase
	strict bool
}

func newJudgement(s *scenarios.Scenario, j judging) (*judgement, error) {
	judge, err := assertions.New(s.Limits, assertions.Options{
		Fresh: j.fresh, Tick: j.tick, Strict: j.strict, Wanted: s.Wanted, LateBy: s.LateBy, Draft: s.Draft,
		Checks: s.Checks, NoCauses: j.undiagnosed, Asked: cmp.Or(j.asked, s.Asked()), Phases: s.Phases,
	})
	if err != nil {
		return nil, err
	}
	return &judgement{look: newLook(s), judge: judge, phases: make([]int64, len(s.Phases)), strict: j.strict}, nil
}

func (j *judgement) block(b results.Block) {
	j.judge.Block(b)
	j.look.block(b)
	for i := range b.Hits {
		if p := b.Hits[i].Phase; int(p) < len(j.phases) {
			j.phases[p]++
		}
	}
}

// conclude gives the verdict on run, and fills in what the record says of it.
func (j *judgement) conclude(run *results.Run) results.Verdict {
	run.Lateness = j.latency.Lateness()
	return j.judge.Verdict(run)
}

// blocks is a record that can be gone through again; the errors are holes in it.
type blocks func(yield func(results.Block, error) bool)

// all goes through a record, and hands on each hole as a mark that the judge
// understands. It gives the holes in words.
func (b blocks) all(f func(results.Block)) (holes []string) {
	for block, err := range b {
		if err == nil {
			f(block)
			continue
		}
		holes = append(holes, err.Error())
		f(results.Block{Marks: []results.Mark{holeOf(err)}})
	}
	return holes
}

func holeOf(err error) results.Mark {
	m := results.Mark{Kind: results.MarkLost, To: results.Never, Text: err.Error()}
	if d, ok := err.(store.Damage); ok {
		m.At, m.To = d.From, d.To
	}
	return m
}

// reportOf is the verdict with its evidence, which is looked up in the record.
func (j *judgement) reportOf(v results.Verdict, run results.Run, record blocks) *report.Report {
	evidence := assertions.NewEvidence(v, j.scenario.Limits)
	record.all(evidence.Block)
	r := &report.Report{
		Version: report.SchemaVersion, Status: v.Status, Strict: j.strict, Headline: v.Headline, Target: j.scenario.Target, Promise: scenarios.Promises(j.scenario.Limits),
		Findings: v.Findings, Run: run, Resolutions: v.Resolutions, Causes: v.Causes, Strip: j.strip, Evidence: evidence.Hits(),
	}
	r.Phases = explained(j.scenario, v.Findings)
	return r
}

// explained is what those phases fire whose clients a breach is about. Phases that
// somebody else wrote explain themselves.
func explained(s *scenarios.Scenario, findings []results.Finding) map[string]string {
	said := map[string]string{}
	if !library.Drawn(s.Name) {
		return said
	}
	lead, _ := library.Lead(s.Limits)
	for _, f := range findings {
		phase, _, invented := strings.Cut(f.Key, "/")
		if f.Status != results.Broken || !invented {
			continue
		}
		if says := library.Meaning(lead, phase); says != "" {
			said[phase] = says
		}
	}
	return said
}

// recheck puts the command that judges the record again beside each broken finding.
func recheck(r *report.Report, folder string) {
	if folder == "" {
		return
	}
	r.Folder, r.Recheck = folder, "hammer judge "+quoted(folder)
	for i := range r.Findings {
		if r.Findings[i].Status == results.Broken {
			r.Findings[i].Recheck = r.Recheck
		}
	}
}

// keyText says how a label of an invented key reads on the wire.
func keyText(s *scenarios.Scenario, nonce string) string {
	switch {
	case nonce == "" || len(s.Limits) == 0 || s.Limits[0].Key.Kind == scenarios.KeyIP:
		return ""
	case s.Limits[0].Key.IsAddress():
		return "each key was sent as an address of 198.18.0.0/15"
	}
	return fmt.Sprintf("key LABEL was sent as hammer-%s-LABEL", nonce)
}
