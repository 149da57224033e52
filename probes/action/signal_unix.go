//go:build unix

package action

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/ratehammer/ratehammer/scenarios"
)

// signal does to a process what an action says, by the signal for it.
func signal(pid int, act scenarios.Act) error {
	number, ok := map[scenarios.Act]syscall.Signal{
		scenarios.ProcessPause: syscall.SIGSTOP, scenarios.ProcessContinue: syscall.SIGCONT,
		scenarios.ProcessStop: syscall.SIGTERM, scenarios.ProcessKill: syscall.SIGKILL, scenarios.ProcessReload: syscall.SIGHUP,
	}[act]
	if !ok {
		return fmt.Errorf("no signal means %s", act)
	}
	err := syscall.Kill(pid, number)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// ofItsOwn keeps a keyboard's interrupt from a program.
func ofItsOwn(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// endAll ends a program that is of its own, and all that it has started and kept in its
// group.
func endAll(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
