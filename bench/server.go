//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// arrivals is a server that answers every request alike, and knows of each when its last
// byte came to the kernel: how late a program is that reads it makes no difference.
type arrivals struct {
	mu   sync.Mutex
	at   []int64 // nanoseconds since 1970
	keep bool
	n    int64
}

var fine = []byte("HTTP/1.1 200 OK\r\nDate: Tue, 01 Dec 2026 14:00:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nok\n")

// listen starts a server that speaks HTTP/1.1.
func listen() (*arrivals, string, error) { return listenFor((*arrivals).serve) }

// listenFor starts a server, which serves each connection so.
func listenFor(serve func(*arrivals, *net.TCPConn)) (*arrivals, string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	a := &arrivals{}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(a, c.(*net.TCPConn))
		}
	}()
	return a, "http://" + l.Addr().String() + "/", nil
}

func (a *arrivals) serve(c *net.TCPConn) {
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		if err := unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
			fmt.Fprintln(os.Stderr, "bench: no stamps from the kernel:", err)
		}
	})
	buf, oob := make([]byte, 8192), make([]byte, 128)
	var last [3]byte // bytes that came before, since the end of a head may come in two pieces
	for {
		var n, oobn int
		var failed error
		err := raw.Read(func(fd uintptr) bool {
			n, oobn, _, _, failed = unix.Recvmsg(int(fd), buf, oob, 0)
			return failed != unix.EAGAIN
		})
		if err != nil || failed != nil || n == 0 {
			return
		}
		seen := append(append(make([]byte, 0, n+3), last[:]...), buf[:n]...)
		copy(last[:], seen[len(seen)-3:])
		for range bytes.Count(seen, []byte("\r\n\r\n")) {
			a.note(stamp(oob[:oobn]))
			if _, err := c.Write(fine); err != nil {
				return
			}
		}
	}
}

// stamp is the kernel's, or now where it gave none.
func stamp(oob []byte) int64 {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err == nil && len(messages) > 0 && messages[0].Header.Type == unix.SCM_TIMESTAMPNS && len(messages[0].Data) >= 16 {
		d := messages[0].Data
		return int64(binary.NativeEndian.Uint64(d))*int64(time.Second) + int64(binary.NativeEndian.Uint64(d[8:]))
	}
	return time.Now().UnixNano()
}

func (a *arrivals) note(at int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.n++
	if a.keep {
		a.at = append(a.at, at)
	}
}

// take gives what has come since the last call, in order, and how many.
func (a *arrivals) take(keep bool) ([]int64, int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, n := a.at, a.n
	a.at, a.n, a.keep = nil, 0, keep
	slices.Sort(at)
	return at, n
}
