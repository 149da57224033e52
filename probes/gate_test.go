package probes

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Up to the end of the empty line behind its head a request may go on with another
// header, and that much of it may be sent.
func TestHeadEnd(t *testing.T) {
	for request, want := range map[string]string{
		"GET / HTTP/1.1\r\nA: b\r\n\r\n":      "GET / HTTP/1.1\r\nA: b\r\n",
		"POST / HTTP/1.1\r\n\r\nbody\r\n\r\n": "POST / HTTP/1.1\r\n",
		"GET / HTTP/1.1\r\nA: b\r\n":          "",
	} {
		if got := request[:headEnd([]byte(request))]; got != want {
			t.Errorf("of %q: got %q, want %q", request, got, want)
		}
	}
}

// A volley that is released by its last bytes: the server has had all else when
// none is complete yet, no request is said to have been sent before it was let go,
// and all that was sent arrives as it is.
func TestLastByteRelease(t *testing.T) {
	eachPath(t, func(t *testing.T, path Path) {
		var mu sync.Mutex
		var heads []time.Time // when a connection had something
		var whole []time.Time // when a request was complete
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			mu.Lock()
			defer mu.Unlock()
			whole = append(whole, time.Now())
			if string(body) != "hello" || err != nil || !strings.HasPrefix(r.Header.Get("X-Api-Key"), "hammer-n-") {
				t.Errorf("got the body %q, the key %q and %v", body, r.Header.Get("X-Api-Key"), err)
			}
		}))
		srv.Listener = watched{srv.Listener, func() {
			mu.Lock()
			defer mu.Unlock()
			heads = append(heads, time.Now())
		}}
		srv.Start()
		defer srv.Close()
		g, err := Aim(context.Background(), Target{URL: srv.URL, Path: path, Key: keyOf(t, "header:X-Api-Key"), Answers: scenarios.DefaultAnswers(), Nonce: "n",
			Request: scenarios.Request{Method: "POST", Body: "hello"}})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		const n = 40
		at := 500 * time.Millisecond
		s := scenarios.Scenario{Limits: []scenarios.Limit{{Burst: 1, Rate: scenarios.Rate{Count: 1, Per: time.Second}}},
			Phases: []scenarios.Phase{{Name: "volley", At: &at, Volley: n, Held: true, Keys: scenarios.Keys{Fresh: 1}}}}
		plan, err := s.Plan(scenarios.Supply{})
		if err != nil {
			t.Fatal(err)
		}
		sink := keep{t: t}
		if _, err := g.Fire(context.Background(), plan, scenarios.Slack{}, 0, &sink, &Progress{}); err != nil {
			t.Fatal(err)
		}
		if len(sink.hits) != n || len(whole) != n {
			t.Fatalf("got %d hits and %d requests, want %d", len(sink.hits), len(whole), n)
		}
		before := 0
		for _, h := range heads {
			if h.Before(whole[0]) {
				before++
			}
		}
		if before < n {
			t.Errorf("when the first request was complete the server had something of %d, want %d", before, n)
		}
		for _, h := range sink.hits {
			if h.Sent < int64(at) || !h.Answered() {
				t.Errorf("request %d was sent at %v and answered at %v, which was due at %v", h.Seq, time.Duration(h.Sent), time.Duration(h.First), at)
			}
		}
	})
}

// watched tells of the first bytes on each connection.
type watched struct {
	net.Listener
	told func()
}

func (l watched) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &watchedConn{Conn: c, r: bufio.NewReader(c), told: l.told}, nil
}

type watchedConn struct {
	net.Conn
	r    *bufio.Reader
	told func()
	once sync.Once
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if n > 0 {
		c.once.Do(c.told)
	}
	return n, err
}
