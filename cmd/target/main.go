// Command target is the reference server of ratehammer: rate limiters, right
// and wrong on purpose, and the truth about what they decided.
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
)

// Exit codes, of the same meaning as those of hammer.
const (
	exitDone   = 0
	exitFailed = 3
)

const exitHelp = `Exit codes:
  0  the command did what it was asked for
  3  it could not: a wrong flag, an address that is taken`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once, as if none were caught.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process: it obeys ctx as an interrupt and gives the
// exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(stderr, "target: %v\n", err)
		if hint := (*usageError)(nil); errors.As(err, &hint) {
			fmt.Fprintf(stderr, "hint: %s --help lists what can be given\n", hint.command)
		}
		return exitFailed
	}
	return exitDone
}

// usageError is a command line that cannot be run, as opposed to a failure of
// what it asked for.
type usageError struct {
	command string // path of the command, such as "target serve"
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }

func (e *usageError) Unwrap() error { return e.err }

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "target",
		Short: "The reference server of ratehammer: rate limiters, right and wrong on purpose",
		Long: `target is a small HTTP server behind a rate limiter that either keeps its
promise or, with a defect switched on, breaks it in a known way. It tells the
truth about each of its decisions, so that a tester can be tested.

` + exitHelp,
		Args:          wrongUse(cobra.NoArgs),
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &usageError{command: c.CommandPath(), err: err}
	})
	root.AddCommand(newServe(), newDefects())
	return root
}

// wrongUse marks the error of a check of arguments.
func wrongUse(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return &usageError{command: c.CommandPath(), err: err}
		}
		return nil
	}
}
