//go:build linux && (amd64 || arm64 || riscv64 || loong64 || ppc64le || s390x || 386 || arm)

package wire

import (
	"net"
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// epoll is the driver of Linux: non-blocking sockets, and calls of the system that the
// runtime does not hear of, since each is over at once.
type epoll struct {
	now    func() int64
	fd     int
	conns  []*conn // by slot
	spare  []int32 // free slots
	ready  []unix.EpollEvent
	events []event
	buffer []byte
	margin int64 // before a moment from which on it polls, in nanoseconds
	idle   bool  // the last wait heard nothing
}

const (
	edges       = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET
	leastMargin = int64(20 * time.Microsecond)
	mostMargin  = int64(300 * time.Microsecond)
	// A wait of which the runtime does not know holds up its collector.
	rawFor = int64(time.Millisecond)
)

func newDriver(o Options) (driver, error) {
	if o.Portable {
		return newPortable(o), nil
	}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	e := &epoll{now: o.Now, fd: fd, ready: make([]unix.EpollEvent, 512), buffer: make([]byte, 64<<10), margin: int64(100 * time.Microsecond)}
	if _, errno := e.pwait(0, true); errno != 0 { // before Linux 5.11
		unix.Close(fd)
		return newPortable(o), nil
	}
	return e, nil
}

func (e *epoll) name() string { return "epoll" }

// begin keeps the goroutine on its thread, and asks the kernel to end the thread's waits
// without slack, which makes them 50 us longer on average.
func (e *epoll) begin() {
	runtime.LockOSThread() // never unlocked: the thread is not as others are
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
}

func (e *epoll) close() { unix.Close(e.fd) }

func (e *epoll) open(c *conn, to netip.AddrPort, from netip.Addr) error {
	c.line = line{fd: -1, slot: -1}
	addr := to.Addr().Unmap()
	family := unix.AF_INET
	if addr.Is6() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	c.line.fd = fd
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	if from.IsValid() {
		// The port is chosen when it is known where to: one address has ports for each server.
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
		if err := unix.Bind(fd, sockaddr(netip.AddrPortFrom(from.Unmap(), 0))); err != nil {
			return os.NewSyscallError("bind", err)
		}
	}
	if err := unix.Connect(fd, sockaddr(netip.AddrPortFrom(addr, to.Port()))); err != nil && err != unix.EINPROGRESS {
		return os.NewSyscallError("connect", err)
	}
	return e.register(c)
}

func (e *epoll) register(c *conn) error {
	if n := len(e.spare); n > 0 {
		c.line.slot, e.spare = e.spare[n-1], e.spare[:n-1]
		e.conns[c.line.slot] = c
	} else {
		c.line.slot = int32(len(e.conns))
		e.conns = append(e.conns, c)
	}
	// Edges, so that it is told once of what has come and never of what was read. The
	// number of the connection tells one from who had the slot before.
	ev := unix.EpollEvent{Events: edges, Fd: c.line.slot, Pad: c.id}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(e.fd, unix.EPOLL_CTL_ADD, c.line.fd, &ev))
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	s := &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
	if zone, err := net.InterfaceByName(a.Addr().Zone()); err == nil {
		s.ZoneId = uint32(zone.Index)
	}
	return s
}

func (e *epoll) opened(c *conn) error {
	n, err := unix.GetsockoptInt(c.line.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && n != 0 {
		err = syscall.Errno(n)
	}
	return os.NewSyscallError("connect", err)
}

func (e *epoll) shut(c *conn) {
	if c.line.slot >= 0 {
		e.conns[c.line.slot] = nil
		e.spare = append(e.spare, c.line.slot)
	}
	if c.line.fd >= 0 {
		unix.Close(c.line.fd)
	}
}

func (e *epoll) write(c *conn, p []byte) (int, error) {
	for {
		n, errno := send(c.line.fd, p)
		switch errno {
		case 0:
			return n, nil
		case unix.EINTR:
		case unix.EAGAIN:
			return 0, nil
		default:
			return 0, os.NewSyscallError("write", errno)
		}
	}
}

func (e *epoll) read(c *conn) (p []byte, more bool, err error) {
	for {
		n, errno := receive(c.line.fd, e.buffer)
		switch {
		case errno == unix.EINTR:
		case errno == unix.EAGAIN:
			return nil, false, nil
		case errno != 0:
			return nil, false, os.NewSyscallError("read", errno)
		case n == 0:
			return nil, false, errEOF
		default:
			return e.buffer[:n], true, nil
		}
	}
}

// send and receive do not tell the runtime: they are over at once.
func send(fd int, p []byte) (int, syscall.Errno) {
	if raced {
		n, err := syscall.Write(fd, p)
		errno, _ := err.(syscall.Errno)
		return n, errno
	}
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), unix.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}

func receive(fd int, p []byte) (int, syscall.Errno) {
	if raced {
		n, err := syscall.Read(fd, p)
		errno, _ := err.(syscall.Errno)
		return n, errno
	}
	n, _, errno := syscall.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return int(n), errno
}

// wait sleeps while there is time and polls through the last stretch, since no wait ends
// on time.
func (e *epoll) wait(until int64, near bool) []event {
	e.events = e.events[:0]
	now := e.now()
	left := until - now - e.margin
	if left <= 0 {
		n, _ := e.pwait(0, true)
		e.gather(n)
		return e.events
	}
	raw := near && !e.idle
	if raw {
		left = min(left, rawFor)
	}
	n, errno := e.pwait(left, raw)
	e.idle = n == 0
	if n == 0 && errno == 0 {
		e.learn(e.now() - now - left)
	}
	e.gather(n)
	return e.events
}

// learn takes in by how much a wait was too long: the margin rises at once to twice what
// was just seen, and falls slowly. A pause of the whole machine teaches nothing, hence
// the cap.
func (e *epoll) learn(late int64) {
	e.margin = min(max(2*late, e.margin*31/32, leastMargin), mostMargin)
}

// pwait waits for so many nanoseconds. raw is whether the runtime is not told, which is
// cheaper, and holds up its collector.
func (e *epoll) pwait(ns int64, raw bool) (n int, errno syscall.Errno) {
	t := unix.NsecToTimespec(ns)
	var r uintptr
	if raw {
		r, _, errno = syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(e.fd), uintptr(unsafe.Pointer(unsafe.SliceData(e.ready))), uintptr(len(e.ready)), uintptr(unsafe.Pointer(&t)), 0, 0)
	} else {
		r, _, errno = syscall.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(e.fd), uintptr(unsafe.Pointer(unsafe.SliceData(e.ready))), uintptr(len(e.ready)), uintptr(unsafe.Pointer(&t)), 0, 0)
	}
	runtime.KeepAlive(&t)
	switch errno {
	case 0:
		return int(r), 0
	case unix.EINTR: // the runtime's signals end waits early; who waits looks at the clock anyway
		return 0, errno
	}
	return 0, errno
}

// gather makes events of what the kernel has told.
func (e *epoll) gather(n int) {
	if n == 0 {
		return
	}
	at := e.now()
	for _, r := range e.ready[:n] {
		c := e.conns[r.Fd]
		if c == nil || c.id != r.Pad {
			continue
		}
		broken := r.Events&(unix.EPOLLERR|unix.EPOLLHUP) != 0
		ended := r.Events&unix.EPOLLRDHUP != 0
		e.events = append(e.events, event{c: c, at: at, readable: broken || ended || r.Events&unix.EPOLLIN != 0,
			writable: broken || r.Events&unix.EPOLLOUT != 0, last: broken || ended})
	}
}
