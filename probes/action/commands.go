package action

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// commands runs programs, and those that undo what they did.
type commands struct {
	undos []scenarios.Action
}

// check looks for the programs: that of undo too, which is missed most.
func (c *commands) check(a scenarios.Action) error {
	for _, words := range [][]string{a.Run, a.Undo} {
		if len(words) == 0 {
			continue
		}
		if _, err := exec.LookPath(words[0]); err != nil {
			return err
		}
	}
	return nil
}

func (c *commands) do(ctx context.Context, a scenarios.Action) (what string, err error) {
	if len(a.Undo) > 0 { // before it has done anything
		c.undos = append(c.undos, a)
	}
	if err := runCommand(ctx, a.Run, a); err != nil {
		return "", err
	}
	c.undos = slices.DeleteFunc(c.undos, func(u scenarios.Action) bool { return slices.Equal(u.Undo, a.Run) })
	return "", nil
}

// drained is how long after its end a program's output may be held open by what it
// has left behind.
const drained = time.Second

// runCommand runs a program until it ends, or its time is over: then all that it has
// started ends with it.
func runCommand(ctx context.Context, words []string, a scenarios.Action) error {
	within := cmp.Or(a.Within, scenarios.DefaultWithin)
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("it had not ended after %v", within))
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	ofItsOwn(cmd)
	cmd.Cancel = func() error { return endAll(cmd) }
	cmd.WaitDelay = drained
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		err = nil // it has ended well, and left something running, as who starts a service does
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", strings.Join(words, " "), err)
	if said := firstLine(output.Bytes()); said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return err
}

func (c *commands) undo() (what []string, err error) {
	for _, a := range slices.Backward(c.undos) {
		e := runCommand(context.Background(), a.Undo, a)
		if e == nil {
			what = append(what, "ran "+strings.Join(a.Undo, " "))
		}
		err = errors.Join(err, e)
	}
	c.undos = nil
	return what, err
}
