package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/probes/action"
	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// acting are the flags that say what is done to the server, and by what.
type acting struct {
	clocks, faults []string
	expect         string
	tools          action.Tools
	faketime       bool
}

// addFlags adds those that say by what.
func (a *acting) addFlags(f *pflag.FlagSet) {
	f.StringVar(&a.tools.Admin, "clock-admin", "", "URL of the reference server's admin side, which moves its clocks, restarts it and cuts its store")
	f.StringVar(&a.tools.Token, "clock-admin-token", os.Getenv("HAMMER_ADMIN_TOKEN"), "that the admin side wants (default $HAMMER_ADMIN_TOKEN)")
	f.Lookup("clock-admin-token").DefValue = ""
	f.IntSliceVar(&a.tools.PIDs, "clock-pid", nil, "process of the server, whose wall clock is moved, and which is paused or ended; on this machine, Linux, as root")
	f.BoolVar(&a.tools.Children, "clock-children", false, "also all processes that were started by it, such as its workers")
	f.IntSliceVar(&a.tools.Stores, "store-pid", nil, "process of the server's store, likewise")
	f.BoolVar(&a.faketime, "under-faketime", false, "start the server, which is the command behind --, and move its clock by libfaketime")
	f.BoolVar(&a.tools.Commands, "allow-commands", false, "run the commands that the scenario names")
}

// takeFlags takes those as well where nothing is done, so that the same arguments can
// be given: what is planned may hang on them.
func (a *acting) takeFlags(f *pflag.FlagSet) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	a.addFlags(own)
	own.VisitAll(func(flag *pflag.Flag) { flag.Hidden = true })
	f.AddFlagSet(own)
}

// addDisturbances adds those that say what.
func (a *acting) addDisturbances(f *pflag.FlagSet) {
	f.StringArrayVar(&a.clocks, "clock", nil, "move the server's wall clock while requests are fired, instead of the standard scenario: all, clock-back, clock-forward, strobe, freeze-resume, drift, away-and-back, wsl, skewed-nodes; or step=-5s, slew=500ppm, freeze=2s, strobe=-1s/250ms; may be repeated")
	f.StringSliceVar(&a.faults, "faults", nil, "do this to the server meanwhile: pause, restart, rolling-restart, reload, store-outage, store-slow")
	f.StringVar(&a.expect, "expect", "", "what the faults may change, as declared: fresh budgets; or while they last all open, closed, local (local,burst=3,rate=1/s,nodes=2), frozen, error or hang; with notices=1s and recovers=5s (default nothing)")
}

// disturbances are those asked for.
func (a *acting) disturbances() (all []library.Disturbance, err error) {
	var errs []error
	for _, c := range a.clocks {
		if c == "all" {
			for _, d := range library.Disturbances() {
				if d.OfClock && d.Name != "wsl" && d.Name != "skewed-nodes" { // which take long, or several nodes
					all = append(all, d)
				}
			}
			continue
		}
		d, err := library.ParseDisturbance(c, true)
		if err != nil {
			errs = append(errs, fmt.Errorf("--clock: %w", err))
		}
		all = append(all, d)
	}
	for _, f := range a.faults {
		d, err := library.ParseDisturbance(f, false)
		if err != nil {
			errs = append(errs, fmt.Errorf("--faults: %w", err))
		}
		all = append(all, d)
	}
	if _, err := scenarios.ParseExpect(scenarios.Expect(a.expect)); err != nil {
		errs = append(errs, fmt.Errorf("--expect %w", err))
	}
	return all, errors.Join(errs...)
}

// split parts the arguments from the command behind --.
func (a *acting) split(cmd *cobra.Command, args []string) (rest []string, err error) {
	dash := cmd.ArgsLenAtDash()
	switch {
	case dash < 0 && a.faketime:
		return args, errors.New("--under-faketime starts the server: give its command behind --, as in --under-faketime -- node server.js")
	case dash < 0:
		return args, nil
	case !a.faketime:
		return args, errors.New("a command behind -- is started with --under-faketime: add that, or leave the command out")
	}
	a.tools.Program, a.tools.Faketime = args[dash:], true
	if len(a.tools.Program) == 0 {
		return args, errors.New("--under-faketime: there is no command behind --")
	}
	return args[:dash], nil
}

// args are the rule for the arguments in front of a command behind --.
func (a *acting) args(rule cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		rest, err := a.split(cmd, args)
		if err != nil {
			return err
		}
		return rule(cmd, rest)
	}
}

// beforeDash are the arguments in front of --.
func beforeDash(cmd *cobra.Command, args []string) []string {
	if n := cmd.ArgsLenAtDash(); n >= 0 {
		return args[:n]
	}
	return args
}

// wanted reports whether somebody is needed who does things.
func (a *acting) wanted(s *scenarios.Scenario) bool {
	return len(a.tools.Program) > 0 || s != nil && len(s.Actions) > 0
}

// guardianArgument makes hammer the guardian of another hammer.
const guardianArgument = "guard"

// newGuard is the command that hammer starts itself by, and no user.
func newGuard() *cobra.Command {
	return &cobra.Command{
		Use: guardianArgument, Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return guard() },
	}
}

// guard lives until hammer is gone, whatever else is ended: signals are for hammer.
func guard() error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for range signals {
		}
	}()
	return action.Guard(os.Stdin, os.Stdout)
}

// guardian starts one, with a folder for what the server says that it starts.
func (a *acting) guardian() (g *action.Guardian, done func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "hammer-guard-")
	if err != nil {
		return nil, nil, err
	}
	// Given twice a process would be stepped twice.
	a.tools.PIDs, a.tools.Stores = distinct(a.tools.PIDs), distinct(a.tools.Stores)
	tools := a.tools
	tools.Dir = dir
	if g, err = action.Start(exec.Command(self, guardianArgument), tools); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return g, func() error { return errors.Join(g.Close(), os.RemoveAll(dir)) }, nil
}

// distinct are numbers without those that came before.
func distinct(all []int) (some []int) {
	for _, n := range all {
		if !slices.Contains(some, n) {
			some = append(some, n)
		}
	}
	return some
}

// answers waits until the server that was started answers, as long as it is there.
func answers(ctx context.Context, g *probes.Gun, by *action.Guardian, label string) error {
	for until := time.Now().Add(20 * time.Second); ; {
		_, err := g.Preflight(ctx, label, 1)
		if ended := by.Look(); ended != nil {
			return &probes.Hinted{Err: ended, Hint: "start it by itself and mend that, or see whether it starts under libfaketime at all: redis and varnish do not; give --clock-pid PID for those"}
		}
		if err == nil || time.Now().After(until) || ctx.Err() != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// act gets somebody who does to the server what the plan says, and proves that it has an
// effect, unless that is proven. ready ends that, and says what could not be taken back.
func (s *session) act(ctx context.Context, a *acting, label string, actions []scenarios.Action, proven bool) (ready func(), err error) {
	g, done, err := a.guardian()
	if err != nil {
		return nil, err
	}
	s.gun.ActBy(g)
	if err := g.Check(kinds(actions)); err != nil {
		return nil, errors.Join(err, done())
	}
	ready = func() {
		if err := done(); err != nil {
			s.console.sayf("%v", err)
		}
	}
	if len(a.tools.Program) > 0 {
		if err := answers(ctx, s.gun, g, label); err != nil {
			ready()
			return nil, err
		}
	}
	s.proveStore(ctx, a.tools, label, actions)
	if proven {
		return ready, nil
	}
	if err := s.prove(ctx, a, g, label, actions); err != nil {
		ready()
		return nil, err
	}
	return ready, nil
}

// disturb is the scenario of disturbances, with what was declared of them.
func (a *acting) disturb(l scenarios.Limit, c library.Circumstances, all []library.Disturbance) (scenarios.Scenario, []library.Omission) {
	s, left := library.Disturb(l, c, all)
	for i := range s.Actions {
		x := &s.Actions[i]
		if x.Act == scenarios.StoreCut && len(a.tools.Stores) > 0 {
			x.Act, x.On = scenarios.ProcessPause, scenarios.OnStore // which is as far away
		}
		if !x.OfClock() {
			x.Expect = scenarios.Expect(a.expect)
		}
	}
	return s, left
}

// foreseen are what disturbances do, before they are fitted to a limit: of what kind and
// to what it is done, and not how much.
func (a *acting) foreseen(all []library.Disturbance) []scenarios.Action {
	any := scenarios.Limit{Burst: 5, Rate: scenarios.Rate{Count: 5, Per: time.Second}, Slack: scenarios.DefaultSlack()}
	s, _ := a.disturb(any, library.Circumstances{}, all)
	return s.Actions
}

// kinds are actions of which no two are of the same kind, done to the same.
func kinds(actions []scenarios.Action) (some []scenarios.Action) {
	for _, a := range actions {
		if !slices.ContainsFunc(some, func(b scenarios.Action) bool {
			return a.Act == b.Act && a.On == b.On && slices.Equal(a.Run, b.Run) && slices.Equal(a.Undo, b.Undo)
		}) {
			some = append(some, a)
		}
	}
	return some
}
