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
	return send(pid, number)
}

// mayBeSignalled is an error where a process is not there, or is somebody else's.
func mayBeSignalled(pid int, _ scenarios.Act) error {
	if err := send(pid, 0); errors.Is(err, os.ErrProcessDone) {
		return errors.New("there is no such process")
	} else if errors.Is(err, syscall.EPERM) {
		return fmt.Errorf("it is another user's: run hammer as that user, or as root: %w", err)
	} else if err != nil {
		return err
	}
	return nil
}

func send(pid int, number syscall.Signal) error {
	if pid < 1 { // which would mean a group of processes, or all
		return fmt.Errorf("%d is the number of no process", pid)
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
