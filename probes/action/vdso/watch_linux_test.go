package vdso

import (
	"os"
	"os/exec"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watched100ms watches a program for a while.
func watched100ms(t *testing.T, c *Clock) Seen {
	t.Helper()
	w, err := Watch([]*Clock{c})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	seen, err := w.End()
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// Who asks for the time is seen to be shown ours, who asks the kernel itself is seen to,
// and who sleeps is seen to do nothing; all go on as before.
func TestWatching(t *testing.T) {
	for _, name := range []string{"go", "node"} {
		p := start(t, name)
		c := mustTake(t, p.cmd.Process.Pid)
		seen := watched100ms(t, c)
		for until := time.Now().Add(10 * time.Second); seen.Shown == 0 && time.Now().Before(until); { // on a busy machine
			seen = watched100ms(t, c)
		}
		if seen.Shown == 0 || seen.Raw > 0 || seen.Calls <= seen.Shown {
			t.Errorf("%s: got %+v", name, seen)
		}
		p.ahead(t) // it still prints
		if err := c.Release(); err != nil {
			t.Fatal(err)
		}
	}
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sleeper.Process.Kill(); sleeper.Wait() })
	time.Sleep(100 * time.Millisecond) // until it sleeps
	if seen := watched100ms(t, mustTake(t, sleeper.Process.Pid)); seen.Shown+seen.Raw > 0 || seen.Calls > 1 {
		t.Errorf("a program that sleeps: got %+v", seen)
	}
}

// asRaw makes it a program that asks the kernel itself for the time.
const asRaw = "HAMMER_ASK_KERNEL"

func askKernel() {
	for ; ; time.Sleep(10 * time.Millisecond) {
		var t unix.Timespec
		_, _, _ = unix.Syscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_REALTIME, uintptr(unsafe.Pointer(&t)), 0)
	}
}

func TestWatchingRaw(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asRaw+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	time.Sleep(100 * time.Millisecond)
	if seen := watched100ms(t, mustTake(t, cmd.Process.Pid)); seen.Raw == 0 {
		t.Errorf("got %+v", seen)
	}
}
