package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// check are the flags of hammer check.
type check struct {
	promise promise
	aiming  aiming
	saving  saving
	seed    uint64
	budget  time.Duration
	defects []string

	thorough bool
	acting   acting
}

func newCheck(c *console) *cobra.Command {
	o := &check{}
	cmd := &cobra.Command{
		Use:   "check [URL]",
		Short: "Check a limiter against its promise",
		Long: `Checks whether the limiter at URL keeps the promise given by --burst and --rate,
with the standard scenario: volleys at rest, pressure, rests, a pace just below
and just above the rate, obedience to Retry-After, pairs of keys, and attacks on
the edges that there should not be. It takes as long as the promise needs for an
error of 1 % in the rate to be seen.

Without URL it starts the reference server inside this process and checks that.

` + exitCodes,
		Example: `  hammer check
  hammer check --defect 'off-by-one{delta=1}'
  hammer check http://127.0.0.1:8080/ --burst 10 --rate 5/s --key header:X-Api-Key
  hammer check http://127.0.0.1:8080/ --burst 6 --rate 2/s --key ip --limited 503
  hammer check http://127.0.0.1:8080/ --burst 6 --rate 2/s --clock all --clock-pid 4711`,
		Args: o.acting.args(atMostOne("URL")),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), c, beforeDash(cmd, args)) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	o.promise.addFlags(f)
	o.aiming.addFlags(f)
	o.saving.addFlags(f)
	f.Uint64Var(&o.seed, "seed", 1, "of everything random in the plan")
	f.DurationVar(&o.budget, "for", 5*time.Minute, "how long the run may take at most")
	o.saving.addDiagnoseFlag(f)
	f.BoolVar(&o.thorough, "thorough", false, "fire the least set of traps that finds every kind of fault (hammer list), instead of the standard scenario")
	f.StringArrayVar(&o.defects, "defect", nil, "make the reference server wrong, as 'off-by-one{delta=1}'; only without URL; may be repeated")
	o.acting.addDisturbances(f)
	o.acting.addFlags(f)
	return cmd
}

func (s *saving) addFlags(f *pflag.FlagSet) {
	f.StringVar(&s.out, "out", "", "folder for the record (default a new one in "+runsFolder+")")
	f.StringVar(&s.prometheus, "prometheus", "", "tell the run's numbers to Prometheus at HOST:PORT while it goes on; :PORT is on this machine alone")
	f.BoolVar(&s.failFast, "fail-fast", false, "stop firing at the first proof that a promise is broken")
	s.addVerdictFlags(f)
}

func (s *saving) addVerdictFlags(f *pflag.FlagSet) {
	f.BoolVar(&s.strict, "strict", false, "advice of a specification counts as a promise")
	f.BoolVar(&s.acceptInconclusive, "accept-inconclusive", false, "exit 0 when inconclusive")
	f.BoolVar(&s.undiagnosed, "no-diagnose", false, "leave out what a breach probably comes from, and fire nothing to find out")
	f.StringArrayVar(&s.report, "report", nil, "write the report to a file too, FORMAT=FILE with "+strings.Join(formats(), ", ")+"; may be repeated, or several with commas")
	f.BoolVarP(&s.quiet, "quiet", "q", false, "print only what is broken")
}

// readReports reads --report, before anything is fired.
func (s *saving) readReports(c *console) (err error) {
	s.reports, err = parseReports(s.report, c.json)
	return err
}

func atMostOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%d arguments where at most one %s is expected: %q", len(args), what, args)
		}
		return nil
	}
}

// exactlyOne is the rule of commands that work on one thing; give asks for it.
func exactlyOne(give string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return &probes.Hinted{Err: errors.New("nothing is given to work on"), Hint: give}
		case 1:
			return nil
		}
		return &probes.Hinted{Err: fmt.Errorf("%d arguments where one is expected: %q", len(args), args), Hint: give}
	}
}

func (o *check) run(ctx context.Context, c *console, args []string) error {
	limit, wanted, err1 := o.promise.template()
	_, err9 := o.promise.withOthers(limit)
	request, err2 := o.aiming.request()
	guard, err3 := o.aiming.guard()
	given, err4 := o.aiming.keys()
	path, err5 := o.aiming.travels()
	err6 := o.contradictions(args)
	err7 := o.saving.readReports(c)
	_, err8 := o.acting.disturbances()
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7, err8, err9); err != nil {
		return err
	}
	s := &session{console: c, saving: o.saving, nonce: newNonce(), most: o.aiming.maxRequests}
	target := probes.Target{Request: request, Key: limit.Key, Answers: limit.Answers, Timeout: o.aiming.timeout,
		Insecure: o.aiming.insecure, Path: path, Guard: guard, Nonce: s.nonce, Values: named(given).values, Cost: limit.CostHeader, CostBody: limit.CostBody}
	if len(args) == 1 {
		target.URL = args[0]
	} else {
		fillIn(&limit)
		limits, err := o.promise.withOthers(limit)
		if err != nil {
			return err
		}
		server, said, err := embed(limits, o.defects)
		if err != nil {
			return err
		}
		defer server.Close()
		target.URL, s.server, s.embedded, s.defects = server.URL()+"/", said, true, o.defects
		o.acting.tools.Admin = server.AdminURL()
	}
	return o.fireAt(ctx, s, target, limit, wanted, given)
}

func (o *check) contradictions(args []string) error {
	var errs []error
	if len(args) == 1 && len(o.defects) > 0 {
		errs = append(errs, errors.New("--defect makes the built-in reference server wrong, and a URL was given: leave out one of the two"))
	}
	if len(args) == 0 && (len(o.acting.tools.PIDs) > 0 || o.acting.faketime || o.acting.tools.Admin != "") {
		errs = append(errs, errors.New("--clock-pid, --clock-admin and --under-faketime are about a server with a URL, and none was given: add it"))
	}
	if len(o.acting.tools.Stores) > 0 && !slices.Contains(o.acting.faults, "store-outage") {
		errs = append(errs, errors.New("--store-pid: only --faults store-outage is about the store: write what is done to the store into a file, with on: store (as {at: 5s, clock: {step: -5s}, on: store}), and give --store-pid to hammer run FILE"))
	}
	if o.thorough && len(o.acting.clocks)+len(o.acting.faults) > 0 {
		errs = append(errs, errors.New("--thorough and --clock or --faults are scenarios of their own: make two runs"))
	}
	if o.budget < 2*time.Second {
		errs = append(errs, fmt.Errorf("--for %v: nothing can be seen in less than 2s", o.budget))
	}
	return errors.Join(errs...)
}

// fireAt looks at the target, fits the standard scenario to it, and fires.
func (o *check) fireAt(ctx context.Context, s *session, target probes.Target, limit scenarios.Limit, wanted int64, given []string) error {
	var err error
	if s.gun, err = probes.Aim(ctx, target); err != nil {
		return err
	}
	defer s.gun.Close()
	if s.supply, err = supplyOf(s.gun, limit.Key, given); err != nil {
		return err
	}
	label, n := s.supply.probe()
	disturbances, err := o.acting.disturbances()
	if err != nil {
		return err
	}
	if o.acting.wanted(nil) || len(disturbances) > 0 {
		ready, err := s.act(ctx, &o.acting, label, o.acting.foreseen(disturbances), false)
		if err != nil {
			return err
		}
		defer ready()
	}
	preflight, err := s.gun.Preflight(ctx, label, n)
	if err != nil {
		return err
	}
	s.rtt = preflight.RTT
	limit, note, err := complete(limit, preflight.Header)
	if err != nil {
		return err
	}
	if note != "" {
		s.notes = append(s.notes, note)
	}
	if preflight.First == results.Limited && s.supply.fresh {
		s.notes = append(s.notes, fmt.Sprintf("the very first request of a fresh key was refused: perhaps %v is not what the limiter tells clients apart by", limit.Key))
	}
	same, err := o.promise.makesNoDifference(limit.Key)
	if err != nil {
		return err
	}
	limits, err := o.promise.withOthers(limit)
	if err != nil {
		return err
	}
	lead, beside := library.Lead(limits)
	circumstances := library.Circumstances{Same: same, Beside: beside, RTT: preflight.RTT, Keys: len(s.supply.Given), Budget: o.budget, Wanted: wanted, Seed: o.seed}
	draw := library.Standard
	if o.thorough {
		draw = library.Thorough
	}
	if len(disturbances) > 0 {
		draw = func(l scenarios.Limit, c library.Circumstances) (scenarios.Scenario, []library.Omission) {
			return o.acting.disturb(l, c, disturbances)
		}
	}
	standard, left := draw(lead, circumstances)
	s.notes = append(s.notes, library.Foresee(lead, circumstances)...)
	standard.Limits = limits
	standard.Target, standard.Request, standard.Timeout, standard.LateBy = target.URL, target.Request, target.Timeout, o.promise.lateBy
	s.notes = append(s.notes, omissions(left, o.budget)...)
	s.scenario = &standard
	if !o.thorough {
		s.console.sayf("%s", library.Unwatched)
	}
	return s.fire(ctx)
}

// omissions says what the standard scenario had to leave out.
func omissions(left []library.Omission, budget time.Duration) (notes []string) {
	for _, o := range left {
		if o.Needs > 0 {
			notes = append(notes, fmt.Sprintf("left out for time: %s, so this would go unseen: %s; it needs --for %v (now %v)", o.Track, o.Loses, o.Needs.Round(time.Second)+time.Second, budget))
			continue
		}
		notes = append(notes, fmt.Sprintf("left out for lack of %s: %s, so this would go unseen: %s", o.Why, o.Track, o.Loses))
	}
	return notes
}
