package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/assertions"
	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/document"
)

// runFlags are the flags of hammer run.
type runFlags struct {
	aiming aiming
	saving saving
	acting acting
}

func newRun(c *console) *cobra.Command {
	o := &runFlags{}
	cmd := &cobra.Command{
		Use:   "run FILE [URL]",
		Short: "Fire a scenario file and judge what comes back",
		Long: `Fires the scenario of a YAML file at its target, or at URL, and judges the record
against the limits in the file. See docs/scenario.md for the file.

` + exitCodes,
		Example: "  hammer run login.yaml\n  hammer run login.yaml http://127.0.0.1:8080/login",
		Args:    o.acting.args(cobra.RangeArgs(1, 2)),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), c, beforeDash(cmd, args)) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	o.aiming.addAgainFlags(f)
	o.saving.addFlags(f)
	o.saving.addDiagnoseFlag(f)
	o.acting.addFlags(f)
	return cmd
}

func (o *runFlags) run(ctx context.Context, c *console, args []string) error {
	s, err := loadScenario(args[0])
	if err != nil {
		return err
	}
	if s.Phases = s.Phases[:s.Asked()]; len(s.Phases) == 0 {
		return fmt.Errorf("%s holds nothing but follow-ups of a breach: name a phase otherwise", args[0])
	}
	extra, err1 := o.aiming.request()
	guard, err2 := o.aiming.guard()
	given, err3 := o.aiming.keys()
	err4 := o.saving.readReports(c)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	if given == nil {
		given = s.Keys
	}
	s.Request.Headers = append(s.Request.Headers, extra.Headers...)
	if len(args) == 2 {
		s.Target = args[1]
	}
	if s.Target == "" {
		return &probes.Hinted{Err: fmt.Errorf("%s names no target", args[0]), Hint: "add target: http://HOST/ to it, or give the URL behind the file's name"}
	}
	return o.aiming.fire(ctx, &session{console: c, saving: o.saving, scenario: s, nonce: newNonce(), acting: o.acting}, guard, given)
}

// fire aims at the session's target, looks whether it answers, and fires.
func (o *aiming) fire(ctx context.Context, ses *session, guard probes.Guard, given []string) error {
	s, l := ses.scenario, ses.scenario.Limits[0]
	ses.most = o.maxRequests
	path, err := o.travels()
	if err != nil {
		return err
	}
	ses.gun, err = probes.Aim(ctx, probes.Target{URL: s.Target, Path: path, Request: s.Request, Key: l.Key, Answers: l.Answers,
		Timeout: s.Timeout, Insecure: o.insecure, Guard: guard, Nonce: ses.nonce, Values: named(given).values, Cost: l.CostHeader, CostBody: l.CostBody})
	if err != nil {
		return err
	}
	defer ses.gun.Close()
	if ses.supply, err = supplyOf(ses.gun, l.Key, given); err != nil {
		return err
	}
	label, _ := ses.supply.probe()
	if ses.acting.wanted(s) {
		ready, err := ses.act(ctx, &ses.acting, label, s.Actions, false)
		if err != nil {
			return err
		}
		defer ready()
	}
	preflight, err := ses.gun.Preflight(ctx, label, 1)
	if err != nil {
		return err
	}
	ses.rtt = preflight.RTT
	ses.supply.fresh = ses.supply.fresh && !ses.used
	return ses.fire(ctx)
}

// loadScenario reads a scenario file.
func loadScenario(name string) (*scenarios.Scenario, error) {
	src, err := document.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return scenarios.Parse(name, src, assertions.IDs())
}
