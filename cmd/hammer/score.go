package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ratehammer/ratehammer/cmd/hammer/score"
	"github.com/ratehammer/ratehammer/results/report"
)

// scoring are the flags of hammer score.
type scoring struct {
	seeds, right, full, first int
	only                      []string
	distances                 []time.Duration
	scenarios                 []string
	workers                   int
	real, busy, spin          bool
}

func newScore(c *console) *cobra.Command {
	var o scoring
	cmd := &cobra.Command{
		Use:   "score",
		Short: "Measure how good hammer is, on the reference server right and wrong",
		Long: `Checks the reference server with each of its defects, with each defect's clean
twin, with what is right and was taken for wrong in public, and with every
algorithm as it should be, in virtual time over simulated networks with delays and
losses, and prints how often each was called broken. A defect should always be, at
least by the thorough scenario, which is told that nothing but the key tells
clients apart (--identity); what is right never. Each line is printed as soon as it
is done, the sum at the end.

With --real it fires over loopback in real time instead, at those cases that take
less than a quarter of a minute, several at once, and with --busy while every core
is kept busy by others: whatever this machine is in the middle of, nothing right
may be accused.

A cell is how many of so many runs were called broken. 'n?' behind it: of the runs
whose sight was measured as well (--full, which takes most of a run's time), n were
inconclusive.

Exit codes:
  0    every defect was caught in 95 of 100 runs of some view, and nothing right accused
  1    something right was accused
  2    some defect was not caught
  3    could not run
  130  interrupted: the lines that were done are printed`,
		Example: `  hammer score
  hammer score --seeds 100 --right 1000
  hammer score --only off-by-one --only D41 --seeds 20
  hammer score --only trap --network 150ms
  hammer score --real --busy --seeds 1`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.spin {
				return spin(os.Stdin)
			}
			if f := cmd.Flags(); o.real {
				if !f.Changed("scenario") {
					o.scenarios = score.Scenarios()[:1]
				}
				if !f.Changed("seeds") {
					o.seeds = 1
				}
			}
			return o.run(cmd.Context(), c)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&o.seeds, "seeds", 5, "runs of each defect in each view")
	f.IntVar(&o.right, "right", 0, "runs of what is right in each view (default as many as --seeds)")
	f.IntVar(&o.full, "full", 5, "of the runs of a cell, how many have their sight measured as well")
	f.IntVar(&o.first, "first-seed", 1, "the first run's seed, which the others count on from")
	f.StringArrayVar(&o.only, "only", nil, "leave out every case whose name does not begin with this, and that is neither of this row nor of this group (defect, twin, trap, right); may be repeated")
	f.DurationSliceVar(&o.distances, "network", score.Distances(), "round trips of the networks")
	f.StringSliceVar(&o.scenarios, "scenario", score.Scenarios(), "which are fired; thorough takes most of the time")
	f.IntVar(&o.workers, "workers", 0, "runs at the same time (default one for each core, or 4 with --real)")
	f.BoolVar(&o.real, "real", false, "fire over loopback in real time; by itself with the standard scenario and one seed")
	f.BoolVar(&o.busy, "busy", false, "keep every core busy meanwhile; only with --real")
	f.BoolVar(&o.spin, "spin", false, "keep a core busy until standard input ends")
	_ = f.MarkHidden("spin")
	return cmd
}

// check says what is wrong with the flags.
func (o *scoring) check() error {
	var errs []error
	if o.right == 0 {
		o.right = o.seeds
	}
	for _, f := range []struct {
		name         string
		value, least int
	}{{"seeds", o.seeds, 1}, {"right", o.right, 1}, {"full", o.full, 0}, {"first-seed", o.first, 1}, {"workers", o.workers, 0}} {
		if f.value < f.least {
			errs = append(errs, fmt.Errorf("--%s %d: give at least %d", f.name, f.value, f.least))
		}
	}
	for _, name := range o.scenarios {
		if !slices.Contains(score.Scenarios(), name) {
			errs = append(errs, fmt.Errorf("--scenario %s: give %s", name, strings.Join(score.Scenarios(), " or ")))
		}
	}
	for _, d := range o.distances {
		if d < 10*time.Microsecond || d > 10*time.Second {
			errs = append(errs, fmt.Errorf("--network %v: give a round trip of 10us to 10s", d))
		}
	}
	if o.busy && !o.real {
		errs = append(errs, errors.New("--busy: in virtual time no run notices how busy this machine is: add --real"))
	}
	return errors.Join(errs...)
}

// extent is how much is tried, and on what.
func (o *scoring) extent() (e score.Extent, cases []score.Case, err error) {
	if cases, err = score.Cases(); err != nil {
		return e, nil, err
	}
	cases = score.Named(cases, o.only)
	e = score.Extent{Views: score.Views(o.scenarios, o.distances), Seeds: o.seeds, Right: o.right, First: o.first, Full: o.full, Workers: o.workers}
	if o.real {
		e.Views, e.Workers = score.Loopback(o.scenarios), cmp.Or(o.workers, 4)
		cases, err = score.Real(cases)
	}
	if err == nil && len(cases) == 0 {
		err = fmt.Errorf("--only %s: no case that can be tried so has such a name, row or group", strings.Join(o.only, ", "))
	}
	return e, cases, err
}

func (o *scoring) run(ctx context.Context, c *console) error {
	if err := o.check(); err != nil {
		return err
	}
	e, cases, err := o.extent()
	if err != nil {
		return err
	}
	if o.busy {
		rest, err := keepBusy()
		if err != nil {
			return err
		}
		defer rest()
	}
	out := scored{Version: report.SchemaVersion}
	t := newScoreTable(c.out, cases, e)
	if !c.json {
		t.head()
	}
	if !o.real { // runs leave much behind and hold little
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	step, stop := showSteps(c, e.Trials(cases))
	err = score.Matrix(ctx, cases, e, step, func(l score.Line) {
		out.Sum.Add(l)
		if c.json {
			out.add(l, e.Views)
		} else {
			t.line(l)
		}
	})
	stop()
	if err != nil && ctx.Err() == nil {
		return err
	}
	if c.json {
		err = report.JSON(c.out, out)
	} else {
		err = t.foot(out.Sum)
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return conclude(exitInterrupted)
	case out.Sum.Accused > 0:
		return conclude(exitBroken)
	case out.Sum.Caught < out.Sum.Defects:
		return conclude(exitInconclusive)
	}
	return nil
}

// showSteps tells how far something is whose steps are told to step, until stop is
// called.
func showSteps(c *console, total int) (step, stop func()) {
	if f, ok := c.talk.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		bar := progressbar.NewOptions(total, progressbar.OptionSetWriter(f), progressbar.OptionSetWidth(24),
			progressbar.OptionClearOnFinish(), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(false))
		return func() { _ = bar.Add(1) }, func() { _ = bar.Finish() }
	}
	var done atomic.Int64
	tick := time.NewTicker(plainEvery)
	over := make(chan struct{})
	go func() {
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				c.sayf("%d of %d", done.Load(), total)
			}
		}
	}()
	return func() { done.Add(1) }, func() { tick.Stop(); close(over) }
}
