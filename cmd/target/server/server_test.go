package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/truth"
	"github.com/ratehammer/ratehammer/scenarios"
)

// The tests on real sockets do not depend on how long anything takes: limits
// refill so slowly that no test lives to see it.

func startServer(t testing.TB, cfg Config) *Server {
	t.Helper()
	s, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func fetch(t testing.TB, method, url, key string, body io.Reader) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		req.Header.Set("X-Api-Key", key)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

// The decision is not made before the last byte of the body is there.
func TestHeldBackBodyHoldsBackDecision(t *testing.T) {
	for _, m := range []string{"plain", "order"} {
		cfg := routed(t, "token-bucket{burst=1,rate=1/h}", Route{Mode: parse(t, m)})
		s := startServer(t, cfg)
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: x\r\nX-Api-Key: a\r\nContent-Length: 2\r\n\r\n{")
		// Another request on the same key goes through in between: had the first
		// been decided, the token would be gone.
		if res, _ := fetch(t, "GET", s.URL(), "a", nil); res.StatusCode != 200 {
			t.Errorf("%s: the request in between: got %d, want 200", m, res.StatusCode)
		}
		fmt.Fprint(conn, "}")
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != 429 {
			t.Errorf("%s: the one that was held back: got %v, %v, want 429", m, res, err)
		}
	}
}

func TestOrderOverSockets(t *testing.T) {
	tests := []struct {
		mode, body string
		status     int
		kind       string
	}{
		{"order", strings.Repeat("x", 1<<20), 413, dialect.NoSpecialType},
		{"order", "{", 400, dialect.NoSpecialType},
		{"order", "{}", 200, ""},
		{"order{backend=dead}", "{}", 503, dialect.NoSpecialType},
		{"order{pending=0}", "{}", 429, dialect.ReducedCapacity},
	}
	for _, tt := range tests {
		cfg := routed(t, "token-bucket{burst=1,rate=1/h}", Route{Mode: parse(t, tt.mode)})
		s := startServer(t, cfg)
		res, body := fetch(t, "POST", s.URL()+"/play", "a", strings.NewReader(tt.body))
		res.Body = io.NopCloser(strings.NewReader(body))
		if tt.status != 200 {
			checkProblem(t, res, tt.status, tt.kind)
		} else if res.StatusCode != 200 {
			t.Errorf("%s: got %d, want 200", tt.mode, res.StatusCode)
		}
	}
}

func TestPeerAddressIsTheKey(t *testing.T) {
	cfg := byHeader(t, "token-bucket{burst=2,rate=1/h}")
	cfg.Key = scenarios.Key{Kind: scenarios.KeyIP}
	s := startServer(t, cfg)
	got := map[int]int{}
	for i := range 4 {
		// A new connection, and so a new port, each time.
		req, _ := http.NewRequest("OPTIONS", s.URL(), nil)
		req.Header.Set("X-Api-Key", fmt.Sprint(i))
		req.Close = true
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		got[res.StatusCode]++
	}
	if want := (map[int]int{200: 2, 429: 2}); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// OPTIONS * is of no path, and net/http would answer it by itself.
func TestOptionsStarIsLimited(t *testing.T) {
	s := startServer(t, Config{Limit: parse(t, "token-bucket{burst=1,rate=1/h}")})
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	for _, want := range []int{200, 429} {
		fmt.Fprint(conn, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
		res, err := http.ReadResponse(answers, nil)
		if err != nil || res.StatusCode != want {
			t.Fatalf("got %v, %v, want %d", res, err, want)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
	}
}

// A request under way is answered, and then nobody is there any more.
func TestCloseLetsRequestsFinish(t *testing.T) {
	s := startServer(t, Config{Routes: []Route{{Limits: []string{DefaultName}, Mode: parse(t, "order{work=100ms}")}}})
	feed, err := http.Get(s.AdminURL() + "/truth?follow=1")
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Body.Close()
	status := make(chan int, 1)
	go func() {
		res, err := http.Get(s.URL())
		if err != nil {
			status <- 0
			return
		}
		res.Body.Close()
		status <- res.StatusCode
	}()
	if err := json.NewDecoder(feed.Body).Decode(new(truth.Record)); err != nil { // it is at work
		t.Fatal(err)
	}
	for range 2 { // closing again does nothing
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if got := <-status; got != 200 {
		t.Errorf("the request under way: got %d, want 200", got)
	}
	if _, err := http.Get(s.URL()); err == nil {
		t.Errorf("after Close: got an answer")
	}
}

func TestListenErrors(t *testing.T) {
	s := startServer(t, Config{})
	taken := strings.TrimPrefix(s.URL(), "http://")
	for _, cfg := range []Config{{Listeners: []Listener{{Address: taken}}}, {Admin: taken}, {Listeners: []Listener{{Address: "nonsense"}}}, {Admin: "nonsense"}} {
		other, err := Start(cfg)
		if err == nil {
			other.Close()
			t.Errorf("%+v: got a server, want an error", cfg)
			continue
		}
		if !strings.Contains(err.Error(), "port 0 takes any free port") || strings.Count(err.Error(), taken) > 1 {
			t.Errorf("%+v: got %q, want the address once and a hint", cfg, err)
		}
	}
}

// If the admin side cannot be had, the public address is free again.
func TestStartLeavesNothingOpen(t *testing.T) {
	s := startServer(t, Config{})
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	if other, err := Start(Config{Listeners: []Listener{{Address: free.Addr().String()}}, Admin: strings.TrimPrefix(s.URL(), "http://")}); err == nil {
		other.Close()
		t.Fatal("got a server, want an error")
	}
	again, err := net.Listen("tcp", free.Addr().String())
	if err != nil {
		t.Fatalf("listening where the failed server was to listen: %v", err)
	}
	again.Close()
}

func TestLocalUnlessSaid(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", "127.0.0.1:0"},
		{":9000", "127.0.0.1:9000"},
		{"0.0.0.0:9000", "0.0.0.0:9000"},
		{"[::1]:9000", "[::1]:9000"},
		{"nonsense", "nonsense"},
	}
	for _, tt := range tests {
		if got := localUnlessSaid(tt.in); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestAddresses(t *testing.T) {
	tests := []struct {
		address  net.TCPAddr
		url      string
		loopback bool
	}{
		{net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}, "http://127.0.0.1:80", true},
		{net.TCPAddr{IP: net.IPv4zero, Port: 80}, "http://127.0.0.1:80", false},
		{net.TCPAddr{IP: net.IPv6zero, Port: 80}, "http://[::1]:80", false},
		{net.TCPAddr{IP: net.IPv6loopback, Port: 80}, "http://[::1]:80", true},
	}
	for _, tt := range tests {
		if got := urlOf(&tt.address, false); got != tt.url {
			t.Errorf("%v: got %s, want %s", &tt.address, got, tt.url)
		}
		if got := isLocal(&tt.address); got != tt.loopback {
			t.Errorf("%v: got loopback %v, want %v", &tt.address, got, tt.loopback)
		}
	}
}
