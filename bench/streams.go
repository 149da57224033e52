//go:build linux

package main

import (
	"io"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Frames of HTTP/2 (RFC 9113, section 6), as far as a server needs them that answers
// every request alike.
const (
	frameHead     = 9 // length, type, flags, stream
	frameHeaders  = 1
	frameSettings = 4
	framePing     = 6
	flagAck       = 1 // of settings and pings
	flagEnds      = 1 // of headers: the request is complete
	flagWhole     = 4 // of headers: nothing of them comes later
	status200     = 0x88
)

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// listenStreams starts a server that speaks HTTP/2 over plain TCP.
func listenStreams() (*arrivals, string, error) { return listenFor((*arrivals).streams) }

// streams serves a connection. A request is complete with its headers, and came when the
// kernel had the last of the bytes that were read with it.
func (a *arrivals) streams(c *net.TCPConn) {
	defer c.Close()
	in := &stamped{c: c, oob: make([]byte, 128)}
	if in.raw, in.err = c.SyscallConn(); in.err != nil {
		return
	}
	_ = in.raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) })
	if _, err := io.ReadFull(in, make([]byte, len(preface))); err != nil {
		return
	}
	if _, err := c.Write([]byte{0, 0, 0, frameSettings, 0, 0, 0, 0, 0}); err != nil {
		return
	}
	head := make([]byte, frameHead)
	for {
		if _, err := io.ReadFull(in, head); err != nil {
			return
		}
		payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(in, payload); err != nil {
			return
		}
		var answer []byte
		switch kind, flags := head[3], head[4]; {
		case kind == frameHeaders && flags&flagEnds != 0:
			a.note(in.at)
			answer = append([]byte{0, 0, 1, frameHeaders, flagEnds | flagWhole}, head[5:]...)
			answer = append(answer, status200)
		case (kind == frameSettings || kind == framePing) && flags&flagAck == 0:
			if kind == frameSettings {
				payload = nil
			}
			answer = append([]byte{0, 0, byte(len(payload)), kind, flagAck}, head[5:]...)
			answer = append(answer, payload...)
		}
		if _, err := c.Write(answer); err != nil {
			return
		}
	}
}

// stamped reads with the kernel's stamps.
type stamped struct {
	c    *net.TCPConn
	raw  syscall.RawConn
	oob  []byte
	held []byte // read, and not given
	buf  [64 << 10]byte
	at   int64 // of what is given
	err  error
}

func (s *stamped) Read(p []byte) (int, error) {
	if len(s.held) == 0 {
		var n, oobn int
		var failed error
		err := s.raw.Read(func(fd uintptr) bool {
			n, oobn, _, _, failed = unix.Recvmsg(int(fd), s.buf[:], s.oob, 0)
			return failed != unix.EAGAIN
		})
		if err != nil || failed != nil || n == 0 {
			return 0, io.EOF
		}
		s.held, s.at = s.buf[:n], stamp(s.oob[:oobn])
	}
	n := copy(p, s.held)
	s.held = s.held[n:]
	return n, nil
}
