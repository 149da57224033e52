// Command hammer fires planned traffic at an HTTP rate limiter, records every
// request, and says whether the limiter keeps its promise.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/report"
)

// The exit codes are part of the interface.
const (
	exitKept         = 0
	exitBroken       = 1
	exitInconclusive = 2
	exitFailed       = 3
	exitInterrupted  = 130
)

const exitCodes = `Exit codes:
  0    kept: no promise is broken, and an error of the size asked for would have been seen
  1    broken: a promise is broken, and no other explanation of the record exists
  2    inconclusive: nothing is broken, and not enough could be seen
  3    could not run: the flags, the scenario, the target or the disk are in the way
  130  interrupted: what was recorded until then was saved and judged`

// version is set when a release is built.
var version = "devel"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program, and its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	c := &console{out: stdout, talk: stderr}
	root := newRoot(c)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var done concluded
	switch {
	case err == nil:
		return exitKept
	case errors.As(err, &done):
		return done.code
	case ctx.Err() != nil:
		c.sayf("interrupted before anything was fired")
		return exitInterrupted
	}
	c.failure(err)
	return exitFailed
}

// concluded ends a command that has said what it had to say.
type concluded struct{ code int }

func (c concluded) Error() string { return fmt.Sprintf("exit code %d", c.code) }

// conclude is nil for exit code 0.
func conclude(code int) error {
	if code == exitKept {
		return nil
	}
	return concluded{code}
}

func newRoot(c *console) *cobra.Command {
	root := &cobra.Command{
		Use:   "hammer",
		Short: "Proves whether an HTTP rate limiter keeps its promise",
		Long: `hammer fires planned traffic at an HTTP rate limiter, records every request, and
says whether the limiter keeps its promise: in every window of length T at most
burst + rate x T admitted, nothing refused that the limit allows, and a
Retry-After that is true.

Start with:  hammer check            (checks the built-in reference server)
             hammer check URL --burst 10 --rate 5/s --key header:X-Api-Key

` + exitCodes,
		Version:           version,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetOut(c.out)
	root.SetErr(c.talk)
	root.PersistentFlags().BoolVar(&c.json, "json", false, "answer with one JSON object, also for errors")
	root.AddCommand(newCheck(c), newRun(c), newReplay(c), newShrink(c), newCompare(c), newPlan(c), newJudge(c), newExport(c), newReport(c), newRuns(c),
		newList(c), newScore(c))
	return root
}

// console is where a command's answer goes, and its talk.
type console struct {
	out, talk io.Writer
	json      bool
}

// sayf talks: it is not part of the answer.
func (c *console) sayf(format string, args ...any) {
	fmt.Fprintf(c.talk, "hammer: "+format+"\n", args...)
}

// failure says why there is no answer.
func (c *console) failure(err error) {
	hint := probes.Hint(err)
	if c.json {
		_ = report.JSON(c.out, report.Failure{Version: report.SchemaVersion, ExitCode: exitFailed, Error: err.Error(), Hint: hint})
		return
	}
	fmt.Fprintf(c.talk, "hammer: %v\n", err)
	if hint != "" {
		fmt.Fprintf(c.talk, "  hint: %s\n", hint)
	}
}

// exitCode is what a verdict ends with.
func exitCode(s results.Status, acceptInconclusive bool) int {
	switch {
	case s == results.Broken:
		return exitBroken
	case s == results.Kept, acceptInconclusive:
		return exitKept
	}
	return exitInconclusive
}
