package server

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

func askAdmin(t *testing.T, url, host, authorization string) *http.Response {
	t.Helper()
	req, err := http.NewRequest("GET", url+"/clock", nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		req.Host = host
	}
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	res.Body = io.NopCloser(strings.NewReader(string(text)))
	return res
}

// The admin side of this machine alone needs no token; one that is given is
// asked for everywhere.
func TestAdminToken(t *testing.T) {
	open := startServer(t, Config{})
	if res := askAdmin(t, open.AdminURL(), "", ""); res.StatusCode != 200 || open.MadeUpToken() || open.AdminToken() != "" {
		t.Errorf("without a token: got %d and token %q, want 200 and none", res.StatusCode, open.AdminToken())
	}
	s := startServer(t, Config{AdminToken: "s3cr3t"})
	tests := []struct {
		authorization string
		status        int
	}{
		{"", 401},
		{"Bearer wrong", 401},
		{"Bearer s3cr3", 401},
		{"Bearer s3cr3tt", 401},
		{"Bearer ", 401},
		{"Basic s3cr3t", 401},
		{"s3cr3t", 401},
		{"Bearer s3cr3t", 200},
		{"bearer s3cr3t", 200},
	}
	for _, tt := range tests {
		res := askAdmin(t, s.AdminURL(), "", tt.authorization)
		if tt.status == 401 {
			if p := checkProblem(t, res, 401, dialect.NoSpecialType); strings.Contains(p.Detail, "s3cr3t") || res.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%q: got %+v, %v", tt.authorization, p, res.Header)
			}
		} else if res.StatusCode != tt.status {
			t.Errorf("%q: got %d, want %d", tt.authorization, res.StatusCode, tt.status)
		}
	}
}

// One that others can reach makes up a token if none is given, another each time.
func TestAdminTokenIsMadeUp(t *testing.T) {
	seen := map[string]bool{}
	for range 2 {
		s := startServer(t, Config{Admin: "0.0.0.0:0"})
		if token := s.AdminToken(); !s.MadeUpToken() || len(token) < 20 || seen[token] {
			t.Errorf("got token %q, made up %v", token, s.MadeUpToken())
		}
		seen[s.AdminToken()] = true
		_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.AdminURL(), "http://"))
		url := "http://127.0.0.1:" + port
		if res := askAdmin(t, url, "", ""); res.StatusCode != 401 {
			t.Errorf("without it: got %d, want 401", res.StatusCode)
		}
		if res := askAdmin(t, url, "", "Bearer "+s.AdminToken()); res.StatusCode != 200 {
			t.Errorf("with it: got %d, want 200", res.StatusCode)
		}
	}
	if s := startServer(t, Config{Admin: "0.0.0.0:0", AdminToken: "own"}); s.MadeUpToken() || s.AdminToken() != "own" {
		t.Errorf("a token that is given: got %q, made up %v", s.AdminToken(), s.MadeUpToken())
	}
}

// A page whose name has been made to mean 127.0.0.1 reads nothing.
func TestAdminRefusesForeignNames(t *testing.T) {
	s := startServer(t, Config{})
	tests := []struct {
		host   string
		status int
	}{
		{"evil.example", 403},
		{"evil.example:9090", 403},
		{"localhost.evil.example", 403},
		{"localhost", 200},
		{"localhost:9090", 200},
		{"127.0.0.1:1", 200},
		{"[::1]:1", 200},
		{"[::1]", 200},
	}
	for _, tt := range tests {
		if got := askAdmin(t, s.AdminURL(), tt.host, "").StatusCode; got != tt.status {
			t.Errorf("Host %s: got %d, want %d", tt.host, got, tt.status)
		}
	}
}

func TestAdminShows(t *testing.T) {
	cfg := nested(t)
	cfg.Limits[0].Defects = parseAll(t, "ra{form=zero}")
	s := startServer(t, cfg)
	for range 3 {
		fetch(t, "GET", s.URL(), "a", nil)
	}
	res, body := fetch(t, "GET", s.AdminURL()+"/limits", "", nil)
	want := `{"url":"` + s.URL() + `/","mode":"plain","limit":"per-key","algorithm":"token-bucket{burst=3,rate=1/h}","contract":"token-bucket","burst":3,"rate":"1/h","key":"header:X-Api-Key","store":"memory","defects":["ra{form=zero}"]}`
	if res.Header.Get("Content-Type") != "application/json" || !strings.Contains(body, want) || strings.Count(body, `"limit":`) != 4 {
		t.Errorf("limits: got %s\nwant four of them, and among them %s", body, want)
	}
	_, body = fetch(t, "GET", s.AdminURL()+"/status", "", nil)
	// One state of a, and one of everybody.
	if !strings.HasPrefix(body, `{"keys":2,"decisions":6,"dropped":0,"waiting":0,"connections":`) || !strings.Contains(body, `"heap_bytes":`) {
		t.Errorf("status: got %s", body)
	}
	if res, _ := fetch(t, "GET", s.AdminURL()+"/certificate", "", nil); res.StatusCode != 404 {
		t.Errorf("a certificate without TLS: got %d, want 404", res.StatusCode)
	}
}
