package probes

import (
	"net/http/httptrace"
	"net/textproto"
	"sync/atomic"

	"github.com/ratehammer/ratehammer/results"
)

// stamps are the moments of one request, as the transport tells them from its
// own goroutines. They enclose the limiter's decision: a connection is had
// before the first byte is written, and the first byte of the answer comes
// after the decision. An informational answer (1xx) is no decision, so where
// there was one the answer counts from when its head was complete.
type stamps struct {
	got     atomic.Int64 // when the first connection was had
	first   atomic.Int64 // when the first byte of an answer was there
	sends   atomic.Int32 // connections had: net/http sends again on another one when a kept one breaks
	interim atomic.Bool  // an informational answer came
	conn    atomic.Pointer[line]
	reused  atomic.Bool
	gate    *gate // keeps its end back; nil: nothing is kept back
}

func (s *stamps) trace(clk clock) *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) {
			if s.sends.Add(1) == 1 {
				s.got.Store(clk.now())
			}
			s.conn.Store(lineOf(i.Conn))
			if s.gate != nil {
				s.gate.keep(lineOf(i.Conn))
			}
			s.reused.Store(i.Reused)
		},
		GotFirstResponseByte: func() { s.first.CompareAndSwap(0, clk.now()) },
		Got1xxResponse: func(int, textproto.MIMEHeader) error {
			s.interim.Store(true)
			return nil
		},
	}
}

// fill records the sending side. A request that never had a connection was
// not sent; it counts from when it was handed over. One that was sent n times
// may have cost n times.
func (s *stamps) fill(h *results.Hit, left int64) {
	h.Sent = left
	if got := s.got.Load(); got != 0 {
		h.Sent = got
	}
	if s.gate != nil && s.gate.let() != 0 {
		h.Sent = s.gate.let()
	}
	if n := s.sends.Load(); n > 1 {
		h.Cost *= int64(n)
	}
	h.Fresh = !s.reused.Load()
	if l := s.conn.Load(); l != nil {
		h.Conn, h.Peer = l.id, l.peer
	}
}

// answered is when the answer surely had begun.
func (s *stamps) answered(headed int64) int64 {
	if first := s.first.Load(); first != 0 && !s.interim.Load() && s.sends.Load() == 1 {
		return first
	}
	return headed
}
