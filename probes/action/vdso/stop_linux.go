package vdso

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a thread may take to stop.
const patience = 2 * time.Second

// thread is one that stands still for us.
type thread struct {
	id     int
	signal int // that was about to be delivered to it, and is when it goes on; 0: none
}

// stopped calls f while all threads of a process stand still, and gives it the
// places that they are at. It is as if nothing had happened to them: calls that
// wait go on waiting, as after a signal that is not handled.
func stopped(pid int, f func(at []uint64) error) error {
	runtime.LockOSThread() // the kernel knows a tracer by its thread
	defer runtime.UnlockOSThread()
	still, err := stopAll(pid)
	defer func() {
		for _, t := range still {
			detach(t)
		}
	}()
	if err != nil {
		return err
	}
	if len(still) == 0 {
		return &Ended{pid}
	}
	var at []uint64
	for _, t := range still {
		pc, err := place(pid, t.id)
		if err != nil {
			return err
		}
		at = append(at, pc)
	}
	return f(at)
}

// stopAll stops all threads of a process, and gives those that stand still, also beside an
// error. The caller's goroutine is locked to its thread.
func stopAll(pid int) (still []thread, err error) {
	known := map[int]bool{}
	for {
		ids, err := threads(pid)
		if err != nil {
			return still, err
		}
		before := len(still)
		for _, id := range ids {
			if known[id] {
				continue
			}
			known[id] = true
			switch t, err := stop(id); {
			case errors.Is(err, unix.ESRCH): // it has ended meanwhile
			case err != nil:
				return still, err
			default:
				still = append(still, t)
			}
		}
		if len(still) == before { // none is left that could start another
			return still, nil
		}
	}
}

func threads(pid int) (ids []int, err error) {
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, n := range names {
		if id, err := strconv.Atoi(n.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, err
}

func stop(id int) (t thread, err error) {
	if err := unix.PtraceSeize(id); err != nil {
		return t, refused(id, err)
	}
	t.id = id
	if err := unix.PtraceInterrupt(id); err != nil {
		detach(t)
		return t, err
	}
	for until := time.Now().Add(patience); time.Now().Before(until); {
		var s unix.WaitStatus
		n, err := unix.Wait4(id, &s, unix.WNOHANG|unix.WALL, nil)
		switch {
		case err != nil && !errors.Is(err, unix.EINTR):
			return t, unix.ESRCH
		case n == id && s.Stopped():
			if int(s)>>16 == 0 { // a signal, and not our interrupt
				t.signal = int(s.StopSignal())
			}
			return t, nil
		case n == id:
			return t, unix.ESRCH
		}
		time.Sleep(200 * time.Microsecond)
	}
	detach(t)
	return t, fmt.Errorf("thread %d does not stand still: it waits for something in the kernel", id)
}

// refused says who may do this, where it was not allowed.
func refused(id int, err error) error {
	if !errors.Is(err, unix.EPERM) {
		return err
	}
	if status, e := os.ReadFile(fmt.Sprintf("/proc/%d/status", id)); e == nil && !strings.Contains(string(status), "TracerPid:\t0\n") {
		return fmt.Errorf("a debugger has hold of it, or another run of hammer: %w", err)
	}
	return fmt.Errorf("this takes the right to trace it: run hammer as root, or with CAP_SYS_PTRACE: %w", err)
}

func detach(t thread) {
	_, _, _ = unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(t.id), 0, uintptr(t.signal), 0, 0)
}

// place is the address of what a thread that stands still does next.
func place(pid, id int) (uint64, error) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "task", strconv.Itoa(id), "syscall"))
	if err != nil {
		return 0, err
	}
	words := strings.Fields(string(b))
	if len(words) < 3 {
		return 0, fmt.Errorf("thread %d does not stand still", id)
	}
	return strconv.ParseUint(strings.TrimPrefix(words[len(words)-1], "0x"), 16, 64)
}
