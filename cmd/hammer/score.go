package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ratehammer/ratehammer/cmd/hammer/score"
	"github.com/ratehammer/ratehammer/results/report"
)

// scoring are the flags of hammer score.
type scoring struct {
	seeds    int
	only     []string
	standard bool
}

func newScore(c *console) *cobra.Command {
	var o scoring
	cmd := &cobra.Command{
		Use:   "score",
		Short: "Measure how good hammer is, on the reference server right and wrong",
		Long: `Checks the reference server with each of its defects, with each defect's clean
twin, and with every algorithm as it should be, in virtual time over simulated
networks with round trips of 0.4 and 20 ms, delays and losses, and prints how
often each was called broken. A defect should always be, at least by the thorough
scenario, which is told that nothing but the key tells clients apart (--identity);
what is right never.

` + exitCodes,
		Example: `  hammer score
  hammer score --seeds 100
  hammer score --only off-by-one --only D41 --seeds 20`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), c) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntVar(&o.seeds, "seeds", 5, "runs of each case in each view")
	f.StringArrayVar(&o.only, "only", nil, "leave out every case whose name does not begin with this, and that is not of this row; may be repeated")
	f.BoolVar(&o.standard, "standard", false, "leave the thorough scenario out, which takes most of the time")
	return cmd
}

// scored is what hammer score says, in JSON.
type scored struct {
	Version int          `json:"version"`
	Sum     score.Sum    `json:"sum"`
	Lines   []scoredLine `json:"lines"`
}

type scoredLine struct {
	Name  string                `json:"name"`
	Group score.Group           `json:"group"`
	Rows  []string              `json:"rows,omitempty"`
	Cells map[string]score.Cell `json:"views"`
}

func (o *scoring) run(ctx context.Context, c *console) error {
	if o.seeds < 1 {
		return fmt.Errorf("--seeds %d: give at least 1", o.seeds)
	}
	all, err := score.Cases()
	if err != nil {
		return err
	}
	cases := score.Named(all, o.only)
	if len(cases) == 0 {
		return fmt.Errorf("--only %s: no case has such a name", strings.Join(o.only, ", "))
	}
	views := score.Views()
	if o.standard {
		views = views[:2]
	}
	step, stop := showSteps(c, len(cases)*len(views))
	lines, err := score.Matrix(ctx, cases, views, o.seeds, step)
	stop()
	if err != nil {
		return err
	}
	sum := score.Total(lines)
	if c.json {
		out := scored{Version: report.SchemaVersion, Sum: sum}
		for _, l := range lines {
			one := scoredLine{Name: l.Case.Name, Group: l.Case.Group, Rows: l.Case.Rows, Cells: map[string]score.Cell{}}
			for i, v := range views {
				one.Cells[v.Name] = l.Cells[i]
			}
			out.Lines = append(out.Lines, one)
		}
		err = report.JSON(c.out, out)
	} else {
		err = printScore(c.out, lines, views, sum)
	}
	if err != nil {
		return err
	}
	switch {
	case sum.Accused > 0:
		return conclude(exitBroken)
	case sum.Caught < sum.Defects:
		return conclude(exitInconclusive)
	}
	return nil
}

// printScore prints what matters first: the two figures, then what fell short,
// then the table.
func printScore(w io.Writer, lines []score.Line, views []score.View, sum score.Sum) error {
	fmt.Fprintf(w, "%d of %d defects caught in at least 95 of 100 runs of some scenario; %d of %d runs of what is right accused\n\n",
		sum.Caught, sum.Defects, sum.Accused, sum.Trials)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\tcase")
	for _, v := range views {
		fmt.Fprintf(t, "\t%s", v.Name)
	}
	fmt.Fprintln(t, "\trequests\tfound by")
	for _, l := range lines {
		fmt.Fprintf(t, "%s\t%s", l.Case.Group, l.Case.Name)
		requests, by := 0, ""
		for _, cell := range l.Cells {
			fmt.Fprintf(t, "\t%d/%d%s", cell.Broken, cell.Runs, aside(cell))
			requests = max(requests, cell.Requests)
			if by == "" && len(cell.Checks) > 0 {
				by = cell.Checks[0]
			}
		}
		fmt.Fprintf(t, "\t%d\t%s\n", requests, by)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, l := range lines {
		for i, cell := range l.Cells {
			if cell.Headline != "" && l.Case.Group != score.Defect {
				fmt.Fprintf(w, "\naccused: %s, %s: %s\n", l.Case.Name, views[i].Name, cell.Headline)
			}
		}
	}
	return nil
}

// aside tells of runs in which too little was seen.
func aside(c score.Cell) string {
	if c.Inconclusive == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d ?)", c.Inconclusive)
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
