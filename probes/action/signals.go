package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/ratehammer/ratehammer/scenarios"
)

// signals pauses and ends processes.
type signals struct {
	pids    []int    // that the next action is about
	program *program // the server, where it is ours to start again; nil: it is not
	paused  []int
}

var errNotOurs = errors.New("a process that hammer did not start is restarted by a command: run: [...], with --allow-commands; or let hammer start it, with --under-faketime -- COMMAND")

func (s *signals) check(a scenarios.Action) error {
	if a.Act == scenarios.ProcessRestart && s.program == nil {
		return errNotOurs
	}
	for _, pid := range s.pids {
		if err := mayBeSignalled(pid, a.Act); err != nil {
			return fmt.Errorf("process %d: %w", pid, err)
		}
	}
	return nil
}

func (s *signals) do(ctx context.Context, a scenarios.Action) (what string, err error) {
	return "", s.act(ctx, a)
}

func (s *signals) act(ctx context.Context, a scenarios.Action) error {
	if a.Act == scenarios.ProcessRestart {
		if s.program == nil {
			return errNotOurs
		}
		return s.program.restart(ctx)
	}
	for _, pid := range s.pids {
		if a.Act == scenarios.ProcessPause {
			s.paused = append(s.paused, pid)
		}
		if err := signal(pid, a.Act); errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("process %d has ended", pid)
		} else if err != nil {
			return fmt.Errorf("process %d: %w", pid, err)
		}
		if a.Act == scenarios.ProcessContinue {
			s.paused = slices.DeleteFunc(s.paused, func(p int) bool { return p == pid })
		}
	}
	return nil
}

func (s *signals) undo() (what []string, err error) {
	for _, pid := range s.paused {
		switch e := signal(pid, scenarios.ProcessContinue); {
		case e == nil:
			what = append(what, fmt.Sprintf("process %d goes on", pid))
		case !errors.Is(e, os.ErrProcessDone):
			err = errors.Join(err, fmt.Errorf("process %d: %w", pid, e))
		}
	}
	s.paused = nil
	return what, err
}
