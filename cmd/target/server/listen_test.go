package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// trusting is a client of the given version of HTTP that trusts the server's
// certificate, which the admin side gives.
func trusting(t *testing.T, s *Server, version int) *http.Client {
	t.Helper()
	pool := x509.NewCertPool()
	if s.certificate != nil {
		_, pem := fetch(t, "GET", s.AdminURL()+"/certificate", "", nil)
		if !pool.AppendCertsFromPEM([]byte(pem)) {
			t.Fatalf("the certificate cannot be read: %s", pem)
		}
	}
	var p http.Protocols
	p.SetHTTP1(version == 1)
	p.SetHTTP2(version == 2)
	p.SetUnencryptedHTTP2(version == 2)
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, Protocols: &p}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// Each sort of listener speaks the versions of HTTP that it is said to, and the
// limit is the same on all.
func TestVersionsOfHTTP(t *testing.T) {
	tests := []struct {
		tls    bool
		http   string
		speaks map[int]bool
	}{
		{false, "", map[int]bool{1: true, 2: true}},
		{false, "both", map[int]bool{1: true, 2: true}},
		{false, "http1", map[int]bool{1: true, 2: false}},
		{false, "http2", map[int]bool{1: false, 2: true}},
		{true, "", map[int]bool{1: true, 2: true}},
		{true, "http1", map[int]bool{1: true, 2: false}},
		{true, "http2", map[int]bool{1: false, 2: true}},
	}
	for _, tt := range tests {
		cfg := byHeader(t, "token-bucket{burst=2,rate=1/h}")
		cfg.Listeners = []Listener{{TLS: tt.tls, HTTP: tt.http}}
		s := startServer(t, cfg)
		for version, speaks := range tt.speaks {
			name := fmt.Sprintf("tls=%v http=%q, asked by HTTP/%d", tt.tls, tt.http, version)
			client := trusting(t, s, version)
			for _, want := range []int{200, 200, 429} {
				req, _ := http.NewRequest("GET", s.URL()+"/", nil)
				req.Header.Set("X-Api-Key", name)
				res, err := client.Do(req)
				if !speaks {
					if err == nil && res.StatusCode == 200 {
						t.Errorf("%s: got a 200", name)
					}
					break
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
					break
				}
				io.Copy(io.Discard, res.Body)
				res.Body.Close()
				if res.StatusCode != want || res.ProtoMajor != version {
					t.Errorf("%s: got %d over HTTP/%d, want %d", name, res.StatusCode, res.ProtoMajor, want)
				}
			}
		}
	}
}

// Many streams of one connection at once: 10 of 200 pass.
func TestVolleyOverHTTP2(t *testing.T) {
	for _, withTLS := range []bool{false, true} {
		cfg := byHeader(t, "token-bucket{burst=10,rate=1/h}")
		cfg.Listeners = []Listener{{TLS: withTLS}}
		s := startServer(t, cfg)
		client := trusting(t, s, 2)
		var mu sync.Mutex
		got := map[int]int{}
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() {
				req, _ := http.NewRequestWithContext(context.Background(), "GET", s.URL()+"/", nil)
				req.Header.Set("X-Api-Key", "a")
				status := 0
				if res, err := client.Do(req); err == nil {
					res.Body.Close()
					status = res.StatusCode
				}
				mu.Lock()
				defer mu.Unlock()
				got[status]++
			})
		}
		wg.Wait()
		if got[200] != 10 || got[429] != 190 {
			t.Errorf("tls=%v: got %v, want 10 admitted of 200", withTLS, got)
		}
	}
}

// A unix socket serves beside a port, and its clients are one.
func TestUnixSocket(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths of sockets are another matter there")
	}
	path := filepath.Join(t.TempDir(), "t.sock")
	leaveStale(t, path)
	cfg := Config{
		Limits:    []Limit{{Name: "a", Algorithm: parse(t, "token-bucket{burst=1,rate=1/h}"), Key: parseKey(t, "ip")}},
		Listeners: []Listener{{Address: "unix:" + path}, {}},
		Admin:     "unix:" + path + ".admin",
	}
	s := startServer(t, cfg)
	client := over(t, s.Places()[0].Socket)
	for _, want := range []int{200, 429} {
		res, err := client.Get(s.URL() + "/")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("over the socket: got %d, want %d", res.StatusCode, want)
		}
	}
	if res, _ := fetch(t, "GET", s.Places()[1].URL, "", nil); res.StatusCode != 200 {
		t.Errorf("over the port: got %d, want 200", res.StatusCode)
	}
	// The admin side can be on one as well, and needs no token there.
	res, err := over(t, s.AdminPlace().Socket).Get(s.AdminURL() + "/clock")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 200 || s.AdminToken() != "" {
		t.Errorf("admin side over a socket: got %d and token %q, want 200 and none", res.StatusCode, s.AdminToken())
	}
	records, _ := s.Truth()
	if records[0].Key != "unix" || records[2].Key != "127.0.0.1" {
		t.Errorf("got keys %q and %q", records[0].Key, records[2].Key)
	}
	// The socket of a server that runs is not taken away from it.
	if other, err := Start(Config{Listeners: []Listener{{Address: "unix:" + path}}}); err == nil {
		other.Close()
		t.Errorf("a second server on the socket: got no error")
	}
	s.Close()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after Close: got %v, want no socket", err)
	}
}

// over is a client that asks over a unix socket.
func over(t *testing.T, socket string) *http.Client {
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// leaveStale leaves a socket that nobody listens on, as a killed server does.
func leaveStale(t *testing.T, path string) {
	t.Helper()
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	ln.Close()
}

// Something else at the path of a socket stays.
func TestOnlySocketsAreRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := Start(Config{Listeners: []Listener{{Address: "unix:" + path}}}); err == nil {
		s.Close()
		t.Errorf("got a server in the place of a file")
	}
	if _, err := os.ReadFile(path); err != nil {
		t.Error(err)
	}
}

// Each route is served where it is said, and nowhere else.
func TestRoutesOnListeners(t *testing.T) {
	bucket := parse(t, "token-bucket{burst=100,rate=1/h}")
	s := startServer(t, Config{
		Listeners: []Listener{{Name: "one"}, {Name: "two"}},
		Limits:    []Limit{{Name: "a", Algorithm: bucket}, {Name: "b", Algorithm: bucket}},
		Routes: []Route{
			{Listeners: []string{"one"}, Limits: []string{"a"}},
			{Listeners: []string{"two"}, Limits: []string{"b"}},
			{Path: "/both"},
		},
	})
	for i, want := range []string{"a", "b"} {
		fetch(t, "GET", s.Places()[i].URL, "", nil)
		records, _ := s.Truth()
		if got := records[len(records)-1].Limit; got != want {
			t.Errorf("listener %d: got limit %s, want %s", i+1, got, want)
		}
		if res, _ := fetch(t, "GET", s.Places()[i].URL+"/both", "", nil); res.StatusCode != 200 {
			t.Errorf("listener %d: got %d for a route of both", i+1, res.StatusCode)
		}
	}
}

// What clients do wrong is logged without their address, which is a key.
func TestLogNamesNoClient(t *testing.T) {
	var mu sync.Mutex
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return logged.Write(p)
	}), nil))
	s := startServer(t, Config{Listeners: []Listener{{TLS: true}}, Log: log})
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "https://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	io.Copy(io.Discard, bufio.NewReader(conn)) // until the server has had enough
	s.Close()
	mu.Lock()
	defer mu.Unlock()
	if got := logged.String(); !strings.Contains(got, "TLS handshake error from ADDRESS") || strings.Contains(got, "127.0.0.1") {
		t.Errorf("got %s", got)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestQuietLog(t *testing.T) {
	tests := []struct{ in, want string }{
		{"http: TLS handshake error from 192.0.2.7:41234: EOF\n", "http: TLS handshake error from ADDRESS: EOF"},
		{"http: panic serving [2001:db8::1]:80: x", "http: panic serving ADDRESS: x"},
		{"from [fe80::1%eth0]:80: x", "from ADDRESS: x"},
		{"[1 2 3]", "[1 2 3]"},
	}
	for _, tt := range tests {
		var got bytes.Buffer
		quietLog(slog.New(slog.NewTextHandler(&got, nil))).Print(tt.in)
		if !strings.Contains(got.String(), fmt.Sprintf("msg=%q", tt.want)) {
			t.Errorf("%q: got %s, want %q", tt.in, &got, tt.want)
		}
	}
}
