package vdso

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Watching are processes whose system calls are watched. The routine asks the kernel for
// the monotonic clock each time that it shows the wall clock, at a place of its own, so
// that each time is seen; so is whoever asks the kernel for the wall clock past it. To
// count inside of the process would take memory there that it may write.
type Watching struct {
	over   chan struct{} // closed when it is to end
	result chan watched
}

type watched struct {
	seen Seen
	err  error
}

// Watch begins to watch processes whose clocks were taken, with all of their threads and
// those that they start meanwhile. Each of their system calls takes some ten microseconds
// longer. It ends with the process that watches, at the latest.
func Watch(clocks []*Clock) (*Watching, error) {
	w := &Watching{over: make(chan struct{}), result: make(chan watched, 1)}
	begun := make(chan error)
	go func() {
		runtime.LockOSThread() // the kernel knows a tracer by its thread
		defer runtime.UnlockOSThread()
		v := &viewer{threads: map[int]bool{}}
		err := v.begin(clocks)
		begun <- err
		if err == nil {
			err = v.watch(w.over)
		}
		v.leave()
		w.result <- watched{v.seen, err}
	}()
	return w, <-begun
}

// End ends it and says what was seen.
func (w *Watching) End() (Seen, error) {
	close(w.over)
	r := <-w.result
	return r.seen, r.err
}

// viewer is who watches.
type viewer struct {
	shows   []uint64     // where the routines are behind their system call for the wall clock
	threads map[int]bool // that are watched
	seen    Seen
}

const seenOf = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE

func (v *viewer) begin(clocks []*Clock) error {
	for _, c := range clocks {
		v.shows = append(v.shows, c.at+uint64(asksAt()))
		still, err := stopAll(c.PID())
		for _, t := range still {
			v.threads[t.id] = true
			err = errors.Join(err, unix.PtraceSetOptions(t.id, seenOf), unix.PtraceSyscall(t.id, t.signal))
		}
		if err != nil {
			return c.ended(fmt.Errorf("watching process %d: %w", c.PID(), err))
		}
	}
	return nil
}

// asksAt is the place behind the last system call of the routine: the one that it makes
// when it shows the wall clock.
func asksAt() int {
	call := []byte{0x0f, 0x05} // syscall
	if runtime.GOARCH == "arm64" {
		call = []byte{0x01, 0x00, 0x00, 0xd4} // svc #0
	}
	return bytes.LastIndex(routine, call) + len(call)
}

const (
	oursAlone  = 0x20000000 // __WNOTHREAD: what the guardian starts is waited for elsewhere
	restPeriod = 50 * time.Microsecond
)

func (v *viewer) watch(over <-chan struct{}) error {
	for idle := 0; ; {
		select {
		case <-over:
			return nil
		default:
		}
		var s unix.WaitStatus
		id, err := unix.Wait4(-1, &s, unix.WNOHANG|unix.WALL|oursAlone, nil)
		switch {
		case errors.Is(err, unix.ECHILD):
			<-over // all have ended
			return nil
		case err != nil && !errors.Is(err, unix.EINTR):
			return fmt.Errorf("watching system calls: %w", err)
		case id > 0:
			idle = 0
			if err := v.hear(id, s); err != nil {
				return err
			}
		default:
			if idle++; idle > 20 {
				time.Sleep(restPeriod)
			}
		}
	}
}

// hear lets a thread go on that has stopped.
func (v *viewer) hear(id int, s unix.WaitStatus) error {
	if !s.Stopped() {
		delete(v.threads, id)
		return nil
	}
	v.threads[id] = true
	signal, event := int(s.StopSignal()), int(s)>>16
	pass := 0
	switch {
	case signal == int(unix.SIGTRAP)|0x80:
		if err := v.call(id); err != nil {
			return err
		}
	case event == unix.PTRACE_EVENT_STOP && signal != int(unix.SIGTRAP): // it is paused, and stays so
		return alive(ptrace(unix.PTRACE_LISTEN, id, 0, 0))
	case event == 0:
		pass = signal
	}
	return alive(unix.PtraceSyscall(id, pass))
}

// alive takes it for nothing that a thread has ended.
func alive(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// call is what the kernel tells of a system call: struct ptrace_syscall_info.
type call struct {
	op      uint8
	_       [3]uint8
	arch    uint32
	at, top uint64    // the places that the thread is at, and that its stack ends at
	number  uint64    // of what begins
	args    [6]uint64 //
	_       [2]uint64 // what later kernels add
}

const begins = 1 // PTRACE_SYSCALL_INFO_ENTRY

func (v *viewer) call(id int) error {
	var c call
	err := ptrace(unix.PTRACE_GET_SYSCALL_INFO, id, unsafe.Sizeof(c), uintptr(unsafe.Pointer(&c)))
	if err != nil || c.op != begins {
		return alive(err)
	}
	v.seen.Calls++
	switch {
	case slices.Contains(v.shows, c.at):
		v.seen.Shown++
	case ofWall(c):
		v.seen.Raw++
	}
	return nil
}

// ofWall reports whether a system call asks for the wall clock.
func ofWall(c call) bool {
	wall := []uint64{unix.CLOCK_REALTIME, unix.CLOCK_REALTIME_COARSE, unix.CLOCK_TAI}
	const time = 201 // which amd64 alone has
	return c.number == unix.SYS_CLOCK_GETTIME && slices.Contains(wall, c.args[0]) ||
		c.number == unix.SYS_GETTIMEOFDAY || runtime.GOARCH == "amd64" && c.number == time
}

func ptrace(request, id int, addr, data uintptr) error {
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(id), addr, data, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// leave lets all go on by themselves.
func (v *viewer) leave() {
	for id := range v.threads {
		if unix.PtraceInterrupt(id) != nil {
			continue // it has ended
		}
		var s unix.WaitStatus
		for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(restPeriod) {
			n, err := unix.Wait4(id, &s, unix.WNOHANG|unix.WALL, nil)
			if err != nil || n == id {
				break
			}
		}
		t := thread{id: id}
		if s.Stopped() && int(s)>>16 == 0 && int(s.StopSignal()) != int(unix.SIGTRAP)|0x80 {
			t.signal = int(s.StopSignal())
		}
		detach(t)
	}
}
