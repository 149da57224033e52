package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
	"github.com/ratehammer/ratehammer/results/store"
	"github.com/ratehammer/ratehammer/scenarios"
)

// firingRange is where the scenarios of a search are fired: at a URL, each on keys
// of its own, or each at a reference server of its own.
type firingRange struct {
	earlier *earlier
	url     string // empty: the reference server inside hammer
	aiming  *aiming
	acting  acting // what things are done to the server by
	proven  bool   // they have an effect
	guard   probes.Guard
	given   []string
	header  []scenarios.Header
	tick    time.Duration
}

// setUp looks whether the target is there.
func (o *shrinkFlags) setUp(ctx context.Context, e *earlier, args []string) (*firingRange, error) {
	r := &firingRange{earlier: e, aiming: &o.aiming, acting: o.acting, tick: probes.Tick()}
	extra, err1 := o.aiming.request()
	guard, err2 := o.aiming.guard()
	given, err3 := o.aiming.keys()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	var err error
	if r.given, err = e.values(given); err != nil {
		return nil, err
	}
	r.guard, r.header = guard, extra.Headers
	switch {
	case len(args) == 2:
		r.url = args[1]
	case !e.saved.Manifest.Embedded:
		r.url = e.saved.Manifest.URL
	}
	s := e.asked()
	if err := r.prepare(s); err != nil || r.url == "" {
		return r, err
	}
	gun, supply, err := r.aim(ctx, s, newNonce())
	if err != nil {
		return nil, err
	}
	defer gun.Close()
	label, _ := supply.probe()
	done, err := r.actOn(ctx, gun, label, s)
	if err != nil {
		return nil, err
	}
	defer done()
	_, err = gun.Preflight(ctx, label, 1)
	return r, err
}

// actOn gets somebody who does to the server what a scenario says, if it says anything.
// That it has an effect is proven once.
func (r *firingRange) actOn(ctx context.Context, gun *probes.Gun, label string, s *scenarios.Scenario) (done func(), err error) {
	if !r.acting.wanted(s) {
		return func() {}, nil
	}
	ses := &session{console: &console{out: io.Discard, talk: io.Discard}, scenario: s, gun: gun}
	done, err = ses.act(ctx, &r.acting, label, s.Actions, r.proven)
	r.proven = r.proven || err == nil
	return done, err
}

// prepare makes a scenario one that is fired here.
func (r *firingRange) prepare(s *scenarios.Scenario) error {
	s.Target = r.url
	return credentials(s, r.header)
}

// said is the target in words.
func (r *firingRange) said() string {
	if r.url == "" {
		return "reference servers like the one it was fired at"
	}
	return r.url
}

// keys are those that a plan here may use.
func (r *firingRange) keys() scenarios.Supply {
	return scenarios.Supply{Given: r.earlier.saved.Manifest.Keys}
}

func (r *firingRange) aim(ctx context.Context, s *scenarios.Scenario, nonce string) (*probes.Gun, supply, error) {
	l := s.Limits[0]
	gun, err := probes.Aim(ctx, probes.Target{URL: s.Target, Request: s.Request, Key: l.Key, Answers: l.Answers, Timeout: s.Timeout,
		Insecure: r.aiming.insecure, Guard: r.guard, Nonce: nonce, Values: named(r.given).values, Cost: l.CostHeader, CostBody: l.CostBody})
	if err != nil {
		return nil, supply{}, err
	}
	keys, err := supplyOf(gun, l.Key, r.given)
	if err != nil {
		gun.Close()
	}
	return gun, keys, err
}

// judged takes in a record for a judge alone.
type judged struct{ *judgement }

func (j judged) Block(b results.Block) error {
	j.block(b)
	return nil
}

// fire fires a scenario, and keeps nothing of it but the verdict.
func (r *firingRange) fire(ctx context.Context, s *scenarios.Scenario) (t trialRun, err error) {
	c := *s
	closing, _, err := r.serve(&c)
	if err != nil {
		return t, err
	}
	defer closing()
	gun, keys, err := r.aim(ctx, &c, newNonce())
	if err != nil {
		return t, err
	}
	defer gun.Close()
	label, _ := keys.probe()
	done, err := r.actOn(ctx, gun, label, &c)
	if err != nil {
		return t, err
	}
	defer done()
	plan, err := c.Plan(keys.Supply)
	if err != nil {
		return t, err
	}
	j, err := newJudgement(&c, judging{fresh: keys.fresh, tick: r.tick, undiagnosed: true})
	if err != nil {
		return t, err
	}
	run, err := gun.Fire(ctx, plan, slackOf(c.Limits), r.tick, judged{j}, &probes.Progress{})
	if err != nil {
		return t, err
	}
	return trialRun{int(run.Sent), j.conclude(&run)}, nil
}

// serve starts a reference server where one is fired at.
func (r *firingRange) serve(s *scenarios.Scenario) (closing func(), said string, err error) {
	if r.url != "" {
		return func() {}, "", nil
	}
	return r.earlier.serve(s, &r.acting)
}

// record fires a scenario as hammer run does, and gives the verdict and the folder.
func (r *firingRange) record(ctx context.Context, s *scenarios.Scenario) (v results.Verdict, folder string, err error) {
	c := *s
	closing, said, err := r.serve(&c)
	if err != nil {
		return v, "", err
	}
	defer closing()
	quiet := &console{out: io.Discard, talk: io.Discard}
	ses := &session{console: quiet, saving: saving{undiagnosed: true}, scenario: &c, nonce: newNonce(),
		server: said, embedded: said != "", defects: r.earlier.saved.Manifest.Defects, acting: r.acting}
	var done concluded
	if err := r.aiming.fire(ctx, ses, r.guard, r.given); err != nil && !errors.As(err, &done) {
		return v, "", err
	}
	text, err := store.ReadVerdict(ses.folder)
	if err != nil {
		return v, "", err
	}
	var rep report.Report
	if err := json.Unmarshal(text, &rep); err != nil {
		return v, "", err
	}
	return results.Verdict{Status: rep.Status, Headline: rep.Headline, Findings: rep.Findings}, ses.folder, nil
}
