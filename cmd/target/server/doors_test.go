package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// piped is a connection without a network, and whether its other end has been
// closed.
func piped(t *testing.T, d *doors) (*visitor, func() bool) {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	v := d.admit(ours).(*visitor)
	return v, func() bool {
		theirs.SetReadDeadline(time.Now())
		_, err := theirs.Read(make([]byte, 1))
		return err == io.EOF
	}
}

// When all places are taken the one goes that nothing was heard of for longest,
// and not one that is being answered.
func TestDoors(t *testing.T) {
	d := newDoors(3)
	var out []func() bool
	var in []*visitor
	for i := range 3 {
		v, gone := piped(t, d)
		v.since.Store(int64(i))
		in, out = append(in, v), append(out, gone)
	}
	in[0].begin() // has been here longest, and is being answered
	_, fourth := piped(t, d)
	if out[0]() || !out[1]() || out[2]() || fourth() || d.open() != 3 {
		t.Errorf("got gone %v %v %v %v and %d open, want only the second gone", out[0](), out[1](), out[2](), fourth(), d.open())
	}
	in[0].end() // heard of just now
	_, fifth := piped(t, d)
	if out[0]() || !out[2]() || fifth() {
		t.Errorf("got gone %v %v %v, want only the third", out[0](), out[2](), fifth())
	}
}

// Where all are being answered, who comes is sent away.
func TestDoorsAllBusy(t *testing.T) {
	d := newDoors(2)
	for range 2 {
		v, _ := piped(t, d)
		v.begin()
	}
	third, gone := piped(t, d)
	if !gone() || d.open() != 2 {
		t.Errorf("got gone %v and %d open, want the third gone", gone(), d.open())
	}
	third.Close() // again, as net/http does
	if d.open() != 2 {
		t.Errorf("got %d open, want 2", d.open())
	}
}

// Connections that send nothing, or a header that never ends, take the places of
// each other: whoever asks something is answered.
func TestSlowClientsDoNotLockOthersOut(t *testing.T) {
	cfg := byHeader(t, "token-bucket{burst=1000000,rate=1/h}")
	cfg.MaxConns = 20
	s := startServer(t, cfg)
	kept, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	answers := bufio.NewReader(kept)
	askKept := func() error {
		fmt.Fprint(kept, "GET / HTTP/1.1\r\nHost: x\r\nX-Api-Key: kept\r\n\r\n")
		res, err := http.ReadResponse(answers, nil)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
		}
		return err
	}
	var slowest net.Conn
	for i := range 200 {
		slow, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer slow.Close()
		if i == 0 {
			slowest = slow
		}
		fmt.Fprint(slow, "GET / HTTP/1.1\r\nHost: x\r\n"[:i%26])
		if err := askKept(); err != nil { // a client that asks all the time
			t.Fatalf("after %d slow connections: %v", i+1, err)
		}
		if i%10 == 0 {
			if got := statusOf(s.URL(), "new"); got != 200 {
				t.Fatalf("a new client after %d slow connections: got %d, want 200", i+1, got)
			}
		}
	}
	if got := s.nodes[0].doors.open(); got > 20 || got < 2 {
		t.Errorf("got %d connections open, want at most 20", got)
	}
	slowest.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, err := slowest.Read(make([]byte, 1)); n != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the first slow one: got %d bytes, %v, want it closed", n, err)
	}
}

// A request that is being answered keeps its connection, however many come.
func TestAnsweredConnectionsStay(t *testing.T) {
	cfg := routed(t, "token-bucket{burst=10,rate=1/h}", Route{Mode: parse(t, "order{work=500ms}")})
	cfg.MaxConns = 5
	s := startServer(t, cfg)
	wake, stop := s.truth.Follow()
	defer stop()
	status := make(chan int, 1)
	go func() { status <- statusOf(s.URL(), "a") }()
	<-wake // it is at work
	for range 20 {
		slow, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer slow.Close()
	}
	if got := <-status; got != 200 {
		t.Errorf("got %d, want 200", got)
	}
}

// A client that sends its body slowly has shown no whole request: its place is
// taken by others like one that sends its header slowly.
func TestSlowBodiesDoNotLockOut(t *testing.T) {
	cfg := routed(t, "token-bucket{burst=1000,rate=1/h}", Route{})
	cfg.MaxConns = 10
	s := startServer(t, cfg)
	for range 40 {
		slow, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer slow.Close()
		fmt.Fprint(slow, "POST / HTTP/1.1\r\nHost: x\r\nX-Api-Key: q\r\nContent-Length: 10\r\n\r\n12")
		if got := statusOf(s.URL(), "new"); got != 200 {
			t.Fatalf("beside slow bodies: got %d, want 200", got)
		}
	}
}
