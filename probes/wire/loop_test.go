package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// serve serves each connection with f, and gives where.
func serve(t testing.TB, f func(net.Conn, *bufio.Reader)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				f(c, bufio.NewReader(c))
			}()
		}
	}()
	return netip.MustParseAddrPort(l.Addr().String())
}

// polite answers every request as f says.
func polite(f func(n int, r *http.Request) string) func(net.Conn, *bufio.Reader) {
	return func(c net.Conn, in *bufio.Reader) {
		for n := 0; ; n++ {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			answer := f(n, r)
			if answer == "" {
				return
			}
			fmt.Fprint(c, answer)
		}
	}
}

const fine = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// script is an owner of a fixed list of exchanges.
type script struct {
	loop  *Loop
	begin time.Time
	at    []int64 // moments, rising
	x     []*Exchange
	n     int // sent
	heads map[*Exchange]int
	ended []*Exchange
	then  func(*Exchange) // is called for each that has ended
	also  func(now int64) int64
}

func (s *script) now() int64 { return int64(time.Since(s.begin)) }

func (s *script) Due(now int64) int64 {
	for s.n < len(s.x) && s.at[s.n] <= now {
		s.n++
		s.loop.Send(s.x[s.n-1])
	}
	next := int64(Never)
	if s.n < len(s.x) {
		next = s.at[s.n]
	}
	if s.also != nil {
		next = min(next, s.also(now))
	}
	return next
}

func (s *script) Headed(x *Exchange, h *Head) { s.heads[x] = h.Status }

func (s *script) Ended(x *Exchange) {
	s.ended = append(s.ended, x)
	if s.then != nil {
		s.then(x)
	}
}

// eachDriver runs a test on every loop that there is here.
func eachDriver(t *testing.T, f func(t *testing.T, portable bool)) {
	for _, portable := range []bool{false, true} {
		t.Run(map[bool]string{false: "native", true: "portable"}[portable], func(t *testing.T) { f(t, portable) })
	}
}

func newScript(t testing.TB, to netip.AddrPort, portable bool, timeout time.Duration) *script {
	t.Helper()
	s := &script{begin: time.Now(), heads: map[*Exchange]int{}}
	var ids atomic.Int32
	var err error
	s.loop, err = New(Options{Now: s.now, To: func() netip.AddrPort { return to }, Number: func() int32 { return ids.Add(1) }, Timeout: timeout, Portable: portable})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *script) run() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.loop.Run(s)
		s.loop.Close()
	}()
	<-done
}

func (s *script) add(at time.Duration, x *Exchange) *Exchange {
	s.at, s.x = append(s.at, int64(at)), append(s.x, x)
	return x
}

func get(p *Place, path string) *Exchange {
	return &Exchange{Request: []byte("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"), Place: p}
}

// One connection carries what comes one after the other, and stamps enclose what the
// server did.
func TestReuse(t *testing.T) {
	eachDriver(t, func(t *testing.T, portable bool) {
		at := make(chan time.Time, 10)
		s := newScript(t, serve(t, polite(func(int, *http.Request) string { at <- time.Now(); return fine })), portable, time.Second)
		p := &Place{Most: 1}
		for i := range 5 {
			s.add(time.Duration(i)*20*time.Millisecond, get(p, "/"))
		}
		s.run()
		for i, x := range s.x {
			decided := int64((<-at).Sub(s.begin))
			if x.Err != nil || s.heads[x] != 200 || x.Conn != 1 || x.Fresh != (i == 0) || x.Sent < s.at[i] || x.Done < x.First {
				t.Errorf("request %d: got %+v", i, x)
			}
			if decided < x.Sent || decided > x.First {
				t.Errorf("request %d was decided at %d, recorded from %d to %d", i, decided, x.Sent, x.First)
			}
		}
	})
}

// What a server does wrong ends one exchange, with a reason, and is never sent again.
func TestFailures(t *testing.T) {
	const begun = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"
	tests := []struct {
		name     string
		answer   string
		err      string
		answered bool
		reused   bool // the connection serves the next one
	}{
		{"fine", fine, "", true, true},
		{"close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", "", true, false},
		{"until the end", "HTTP/1.0 200 OK\r\n\r\nbody", "", true, false},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "", true, true},
		{"unasked", fine + "HTTP/1.1 408 Request Timeout\r\n\r\n", "", true, false},
		{"hung up", "", "closed the connection", false, false},
		{"half a head", "HTTP/1.1 200 OK\r\nContent", "closed the connection", false, false},
		{"half a body", begun, "closed the connection", true, false},
		{"an interim answer alone", "HTTP/1.1 103 Early Hints\r\n\r\n", "closed the connection", false, false},
		{"no HTTP", "SSH-2.0-OpenSSH\r\n", "malformed", false, false},
		{"an unknown coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "malformed", false, false},
	}
	eachDriver(t, func(t *testing.T, portable bool) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				var seen atomic.Int32
				s := newScript(t, serve(t, func(c net.Conn, in *bufio.Reader) {
					for {
						r, err := http.ReadRequest(in)
						if err != nil {
							return
						}
						seen.Add(1)
						if r.URL.Path == "/next" {
							fmt.Fprint(c, fine)
							continue
						}
						fmt.Fprint(c, tt.answer)
						if tt.answer != fine && !tt.reused {
							return
						}
					}
				}), portable, time.Second)
				p := &Place{}
				x, next := s.add(0, get(p, "/")), s.add(50*time.Millisecond, get(p, "/next"))
				s.run()
				if got := fmt.Sprint(x.Err); (tt.err == "") != (x.Err == nil) || !strings.Contains(got, tt.err) || (x.First != Never) != tt.answered {
					t.Errorf("got %v, answered %v", x.Err, x.First != Never)
				}
				if next.Err != nil || (next.Conn == x.Conn) != tt.reused || seen.Load() != 2 {
					t.Errorf("the next one: got %v on connection %d; the server saw %d", next.Err, next.Conn, seen.Load())
				}
			})
		}
	})
}

// Nothing listens; nobody answers; and one connection has to do for all.
func TestWaiting(t *testing.T) {
	eachDriver(t, func(t *testing.T, portable bool) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		nobody := netip.MustParseAddrPort(l.Addr().String())
		l.Close()
		s := newScript(t, nobody, portable, time.Second)
		x := s.add(0, get(&Place{}, "/"))
		s.run()
		if x.Err == nil || !strings.Contains(x.Err.Error(), "refused") || x.Unsent || x.First != Never || x.Conn != 0 {
			t.Errorf("where nothing listens: got %+v", x)
		}

		silent := serve(t, func(c net.Conn, _ *bufio.Reader) { _, _ = io.Copy(io.Discard, c) })
		s = newScript(t, silent, portable, 100*time.Millisecond)
		x = s.add(0, get(&Place{}, "/"))
		s.run()
		if !errors.Is(x.Err, ErrTimeout) || x.Done-x.Sent < int64(90*time.Millisecond) {
			t.Errorf("where nobody answers: got %+v", x)
		}

		slow := serve(t, polite(func(int, *http.Request) string { time.Sleep(30 * time.Millisecond); return fine }))
		s = newScript(t, slow, portable, time.Second)
		p := &Place{Most: 1}
		for range 4 {
			s.add(0, get(p, "/"))
		}
		s.x[3].Latest = int64(20 * time.Millisecond)
		s.run()
		for i, x := range s.x[:3] {
			if x.Err != nil || x.Conn != 1 || x.Sent < int64(i)*int64(30*time.Millisecond) {
				t.Errorf("request %d on the one connection: got %+v", i, x)
			}
		}
		if x := s.x[3]; !x.Unsent || !errors.Is(x.Err, ErrLate) {
			t.Errorf("what had no connection in time: got %+v", x)
		}
	})
}

// What is kept back is not with the server before it is released, and all of it after.
func TestRelease(t *testing.T) {
	eachDriver(t, func(t *testing.T, portable bool) {
		whole := make(chan time.Time, 100)
		s := newScript(t, serve(t, polite(func(int, *http.Request) string { whole <- time.Now(); return fine })), portable, 5*time.Second)
		p := &Place{}
		for _, body := range []int{0, 1, 10_000} {
			head := fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n", body)
			x := s.add(0, &Exchange{Request: []byte(head + "\r\n" + strings.Repeat("b", body)), Place: p, Keep: len(head)})
			x.Of = len(head)
		}
		at, released := int64(100*time.Millisecond), false
		s.also = func(now int64) int64 {
			if released {
				return Never
			}
			if now < at {
				return at
			}
			released = true
			for _, x := range s.x {
				s.loop.Release(x)
			}
			return Never
		}
		s.run()
		for _, x := range s.x {
			if x.Err != nil || x.Sent < at {
				t.Errorf("got %+v", x)
			}
			if decided := int64((<-whole).Sub(s.begin)); decided < at {
				t.Errorf("a request was complete %v before it was released", time.Duration(at-decided))
			}
		}

		// One that is lost before it is released was never complete.
		s = newScript(t, serve(t, func(net.Conn, *bufio.Reader) {}), portable, time.Second)
		x := s.add(0, get(p, "/"))
		x.Keep, x.Place = len(x.Request)-2, &Place{}
		s.run()
		if !x.Unsent || !errors.Is(x.Err, ErrHeld) {
			t.Errorf("got %+v", x)
		}
	})
}

// An answer that comes byte for byte, behind an interim one, and a long request.
func TestPieces(t *testing.T) {
	eachDriver(t, func(t *testing.T, portable bool) {
		const long = 3 << 20
		s := newScript(t, serve(t, func(c net.Conn, in *bufio.Reader) {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
			if n, _ := io.Copy(io.Discard, r.Body); n != long {
				return
			}
			for _, b := range []byte("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 429 Too Many\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n") {
				_, _ = c.Write([]byte{b})
				time.Sleep(100 * time.Microsecond)
			}
			_, _ = in.ReadByte()
		}), portable, 5*time.Second)
		x := s.add(0, &Exchange{Request: fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", long, strings.Repeat("b", long)), Place: &Place{}})
		s.run()
		if x.Err != nil || s.heads[x] != 429 || !x.Interim || x.First < int64(20*time.Millisecond) {
			t.Errorf("got status %d, %v, first %d", s.heads[x], x.Err, x.First)
		}
	})
}

// Requests one after the other on connections that are there cost no memory.
func BenchmarkLoop(b *testing.B) {
	for _, portable := range []bool{false, true} {
		for _, conns := range []int{1, 64} {
			b.Run(fmt.Sprintf("portable=%v/conns=%d", portable, conns), func(b *testing.B) {
				s := newScript(b, serve(b, func(c net.Conn, _ *bufio.Reader) {
					buf, ok := make([]byte, 4096), []byte(fine)
					for {
						if _, err := c.Read(buf); err != nil {
							return
						}
						if _, err := c.Write(ok); err != nil {
							return
						}
					}
				}), portable, time.Second)
				p := &Place{}
				left := b.N
				s.then = func(x *Exchange) {
					s.ended = s.ended[:0]
					if left--; left > 0 {
						s.loop.Send(x)
					}
				}
				for range conns {
					s.add(0, get(p, "/"))
				}
				b.ReportAllocs()
				b.ResetTimer()
				s.run()
			})
		}
	}
}
