//go:build !unix

package action

import (
	"fmt"
	"os"
	"os/exec"

	"github.com/ratehammer/ratehammer/scenarios"
)

// mayBeSignalled is an error for what is not known here.
func mayBeSignalled(_ int, act scenarios.Act) error {
	if act != scenarios.ProcessKill && act != scenarios.ProcessStop {
		return fmt.Errorf("%s is not known on this system", act)
	}
	return nil
}

// signal ends a process, which is all that can be done to one here.
func signal(pid int, act scenarios.Act) error {
	if act != scenarios.ProcessKill && act != scenarios.ProcessStop {
		return fmt.Errorf("%s is not known on this system", act)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return os.ErrProcessDone
	}
	return p.Kill()
}

func ofItsOwn(*exec.Cmd) {}

// endAll ends a program, but not what it has started.
func endAll(cmd *exec.Cmd) error { return cmd.Process.Kill() }
