package probes

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// counting is a listener that knows how often something was read on each connection.
type counting struct {
	net.Listener
	mu    sync.Mutex
	reads map[string]int // by the client's address
}

// countingConn reads all that has come at once.
type countingConn struct {
	net.Conn
	in *bufio.Reader
}

// source is what a connection reads from.
type source struct {
	net.Conn
	of *counting
}

func (l *counting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countingConn{c, bufio.NewReaderSize(source{c, l}, 64<<10)}, nil
}

func (c countingConn) Read(p []byte) (int, error) { return c.in.Read(p) }

func (c source) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.reads[c.RemoteAddr().String()]++
	return n, err
}

// Over HTTP/2 a volley that is kept back leaves on a connection of its own in one write:
// a server reads a hundred requests at once. Of more than a hundred each hundred does.
func TestVolleyLeavesInPackets(t *testing.T) {
	for _, plain := range []bool{true, false} {
		for _, size := range []int{100, 150} {
			from := map[string]int{} // requests by the client's address
			var mu sync.Mutex
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if from[r.RemoteAddr]++; r.ProtoMajor != 2 {
					w.WriteHeader(http.StatusHTTPVersionNotSupported)
				}
			}))
			l := &counting{Listener: s.Listener, reads: map[string]int{}}
			s.Listener = l
			target := Target{Answers: scenarios.DefaultAnswers(), Insecure: true, Nonce: "n"}
			if plain {
				target.Path = PathH2C
				s.Config.Protocols = &http.Protocols{}
				s.Config.Protocols.SetUnencryptedHTTP2(true)
				s.Start()
			} else {
				s.EnableHTTP2 = true
				s.StartTLS()
			}
			defer s.Close()
			target.URL = s.URL
			g, err := Aim(t.Context(), target)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			v := volley("volley", size)
			v.Held = true
			k := &keep{t: t}
			run, err := g.Fire(t.Context(), layOut(t, v), scenarios.Slack{}, 0, k, &Progress{})
			if err != nil {
				t.Fatal(err)
			}
			account(t, run, k)
			checkPackets(t, run, k.hits, size)
			l.mu.Lock()
			for client, n := range from {
				// The handshake, the preface, the answer to the server's settings, what is said
				// of windows and at the end; and a hundred requests.
				if most := 20; l.reads[client] > most {
					t.Errorf("plain %v: the server read %d requests in %d reads, want %d at most", plain, n, l.reads[client], most)
				}
			}
			l.mu.Unlock()
		}
	}
}

// checkPackets holds a volley to what is on record of it.
func checkPackets(t *testing.T, run results.Run, hits []results.Hit, size int) {
	t.Helper()
	if len(hits) != size || !strings.HasSuffix(run.Path, "volleys over HTTP/2 in one write each") {
		t.Errorf("got %d requests over %s, want %d", len(hits), run.Path, size)
	}
	sent := map[int32]int64{}
	fresh := 0
	for _, h := range hits {
		if h.Outcome != results.Admitted || h.First < h.Sent || h.Sent < h.Planned {
			t.Errorf("got %+v", h)
		}
		if at, ok := sent[h.Conn]; ok && at != h.Sent {
			t.Errorf("hit %d was let go at %d, and another on its connection at %d", h.Seq, h.Sent, at)
		}
		if sent[h.Conn] = h.Sent; h.Fresh {
			fresh++
		}
	}
	if want := (size + mostStreams - 1) / mostStreams; len(sent) != want || fresh != want {
		t.Errorf("got %d connections, %d of them fresh, want %d", len(sent), fresh, want)
	}
}

// A server that speaks no HTTP/2 over TLS is sent a volley as it would have been.
func TestVolleyWithoutPackets(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	s.TLS.NextProtos = []string{"http/1.1"}
	g, err := Aim(t.Context(), Target{URL: s.URL, Answers: scenarios.DefaultAnswers(), Insecure: true, Nonce: "n"})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	first, second := volley("first", 20), volley("second", 20)
	first.Held, second.Held = true, true
	k := &keep{t: t}
	run, err := g.Fire(t.Context(), layOut(t, first, second), scenarios.Slack{}, 0, k, &Progress{})
	if err != nil {
		t.Fatal(err)
	}
	account(t, run, k)
	if run.Sent == 0 || run.Path != "full (net/http)" {
		t.Errorf("got %+v", run)
	}
}
