package main

import (
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/scenarios"
	"github.com/ratehammer/ratehammer/scenarios/library"
)

// planFlags are the flags of hammer plan.
type planFlags struct {
	promise  promise
	seed     uint64
	budget   time.Duration
	rtt      time.Duration
	keys     int
	yaml     bool
	thorough bool
	acting   acting
}

func newPlan(c *console) *cobra.Command {
	o := &planFlags{}
	cmd := &cobra.Command{
		Use:   "plan [FILE]",
		Short: "Print what would be fired, without firing it",
		Long: `Prints every request of a scenario file, or of the standard scenario for the
promise given by --burst and --rate: its number, its moment in seconds, its
phase and its key. The same scenario and seed print the same bytes.

` + exitCodes,
		Example: "  hammer plan login.yaml\n  hammer plan --burst 10 --rate 5/s\n  hammer plan --burst 10 --rate 5/s --yaml > check.yaml",
		Args:    atMostOne("FILE"),
		RunE:    func(_ *cobra.Command, args []string) error { return o.run(c, args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	o.promise.addFlags(f)
	f.Uint64Var(&o.seed, "seed", 1, "of everything random in the plan")
	f.DurationVar(&o.budget, "for", 5*time.Minute, "how long the run may take at most")
	f.DurationVar(&o.rtt, "rtt", time.Millisecond, "round trip that the standard scenario is fitted to; hammer check measures it")
	f.IntVar(&o.keys, "given-keys", 0, "how many keys the server knows; 0: any number is invented")
	f.BoolVar(&o.thorough, "thorough", false, "plan the least set of traps that finds every kind of fault, instead of the standard scenario")
	f.BoolVar(&o.yaml, "yaml", false, "print the scenario as a file for hammer run instead of its shots")
	o.acting.addDisturbances(f)
	o.acting.takeFlags(f)
	return cmd
}

func (o *planFlags) run(c *console, args []string) error {
	s, err := o.scenario(c, args)
	if err != nil {
		return err
	}
	if o.yaml {
		_, err := c.out.Write(s.YAML())
		return err
	}
	supply := scenarios.Supply{}
	given := len(s.Keys)
	if given == 0 {
		given = o.keys
	}
	for i := range given {
		supply.Given = append(supply.Given, fmt.Sprintf("key %d", i+1))
	}
	p, err := s.Plan(supply)
	if err != nil {
		return err
	}
	more := ""
	if n := p.Most() - p.Shots.Len(); n > 0 {
		more = fmt.Sprintf(" and up to %d more, as answers direct,", n)
	}
	if _, err = fmt.Fprintf(c.out, "# %d requests%s in %v at most, seed %d\n%s", p.Shots.Len(), more, p.Length, s.Seed, o.afterwards(s, given)); err != nil {
		return err
	}
	return p.Print(c.out)
}

// afterwards says what is fired behind the plan if the promise turns out to be broken.
func (o *planFlags) afterwards(s *scenarios.Scenario, keys int) string {
	ses := session{scenario: s, most: math.MaxInt32, rtt: o.rtt, saving: saving{diagnoseFor: diagnoseFor}}
	ses.supply.Given = make([]string, keys)
	l, means, may := ses.followed()
	if !may {
		return ""
	}
	p := library.Most(l, ses.circumstances(), means)
	return fmt.Sprintf("# after a breach: up to %d requests, %v, to find what it comes from\n", p.Requests, p.Length.Round(100*time.Millisecond))
}

func (o *planFlags) scenario(c *console, args []string) (*scenarios.Scenario, error) {
	if len(args) == 1 {
		return loadScenario(args[0])
	}
	l, wanted, err := o.promise.template()
	if err != nil {
		return nil, err
	}
	if _, _, err := complete(l, nil); err != nil {
		return nil, err
	}
	draw := library.Standard
	if o.thorough {
		draw = library.Thorough
	}
	same, err := o.promise.makesNoDifference(l.Key)
	if err != nil {
		return nil, err
	}
	limits, err := o.promise.withOthers(l)
	if err != nil {
		return nil, err
	}
	lead, beside := library.Lead(limits)
	circumstances := library.Circumstances{Same: same, Beside: beside, RTT: o.rtt, Keys: o.keys, Budget: o.budget, Wanted: wanted, Seed: o.seed}
	for _, n := range library.Foresee(lead, circumstances) {
		c.sayf("%s", n)
	}
	all, err := o.acting.disturbances()
	if err != nil {
		return nil, err
	}
	if len(all) > 0 {
		draw = func(l scenarios.Limit, c library.Circumstances) (scenarios.Scenario, []library.Omission) {
			return o.acting.disturb(l, c, all)
		}
	}
	s, left := draw(lead, circumstances)
	s.Limits = limits
	for _, n := range omissions(left, o.budget) {
		c.sayf("%s", n)
	}
	if !o.thorough {
		c.sayf("%s", library.Unwatched)
	}
	return &s, nil
}
