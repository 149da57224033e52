package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
)

// greet is what is printed at the start, with ports and tokens taken out.
func greet(t *testing.T, args ...string) string {
	t.Helper()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt() // it still says where it was
	var stdout, stderr bytes.Buffer
	code := run(ctx, append([]string{"serve"}, args...), &stdout, &stderr)
	if code != 0 || stderr.Len() > 0 {
		t.Errorf("%v: got exit code %d and %q, want 0 and nothing", args, code, &stderr)
	}
	got := regexp.MustCompile(`(127\.0\.0\.1|\[::1\]):\d+`).ReplaceAllString(stdout.String(), "HOST")
	return regexp.MustCompile(`[A-Z2-7]{26}`).ReplaceAllString(got, "TOKEN")
}

func TestGreeting(t *testing.T) {
	got := greet(t, "--listen", "127.0.0.1:0", "--defect", "ra{form=zero}", "--defect", "starts-empty", "--mode", "order{pending=4}")
	want := `serving  http://HOST
admin    http://HOST
route    /  order{pending=4}
  limit    default: token-bucket{burst=10,rate=5/1s} per header:X-Api-Key, made wrong by ra{form=zero} and starts-empty

try
  curl -i -H 'X-Api-Key: alice' 'http://HOST/'
  for i in $(seq 13); do curl -s -o /dev/null -w '%{http_code}\n' -H 'X-Api-Key: alice' 'http://HOST/'; done
  curl 'http://HOST/truth'
  curl -X POST 'http://HOST/clock/step?by=-5s'
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// Several limits, TLS, and an admin side that others can reach.
func TestGreetingOfMore(t *testing.T) {
	got := greet(t, "--listen-tls", "127.0.0.1:0", "--admin", "0.0.0.0:0", "--limit", "token-bucket{burst=10,rate=5/s}", "--key", "ip+cookie:sid",
		"--limit", "token-bucket{burst=100,rate=50/s}", "--key", "none")
	want := `serving  https://HOST
admin    http://HOST
token    TOKEN   made up for this run, since others can reach the admin side
route    /  plain
  limit    token-bucket: token-bucket{burst=10,rate=5/s} per ip+cookie:sid, at most 10 + 5/s*T in any time T
  limit    token-bucket-2: token-bucket{burst=100,rate=50/s} per none, at most 100 + 50/s*T in any time T

trust
  curl -H "Authorization: Bearer $TOKEN" -o target.pem 'http://HOST/certificate'

try
  curl -i --cacert target.pem --cookie 'sid=alice' 'https://HOST/'
  for i in $(seq 13); do curl -s -o /dev/null -w '%{http_code}\n' --cacert target.pem --cookie 'sid=alice' 'https://HOST/'; done
  curl -H "Authorization: Bearer $TOKEN" 'http://HOST/truth'
  curl -H "Authorization: Bearer $TOKEN" -X POST 'http://HOST/clock/step?by=-5s'
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// The admin token of a flag comes before that of a file, and that of a file before
// that of the environment.
func TestAdminToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "target.yaml")
	if err := os.WriteFile(file, []byte("admin-token: of-file\nlimits: [{name: a, algorithm: 'gcra{burst=1,rate=1/s}'}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(tokenVariable, "of-environment")
	tests := []struct {
		args []string
		want string
	}{
		{nil, "of-environment"},
		{[]string{"--admin-token", "of-flag"}, "of-flag"},
		{[]string{"--config", file}, "of-file"},
		{[]string{"--config", file, "--admin-token", "of-flag"}, "of-flag"},
	}
	for _, tt := range tests {
		var o serveOptions
		c := &cobra.Command{}
		o.addFlags(c)
		if err := c.ParseFlags(tt.args); err != nil {
			t.Fatal(err)
		}
		if cfg, err := o.config(c); err != nil || cfg.AdminToken != tt.want {
			t.Errorf("%v: got %q, %v, want %q", tt.args, cfg.AdminToken, err, tt.want)
		}
	}
}

// The table has every algorithm on the path of its name, with its promise and a
// line to ask it.
func TestAll(t *testing.T) {
	got := greet(t, "--all", "--listen", "127.0.0.1:0")
	for _, d := range limiter.List() {
		line := regexp.MustCompile(`(?m)^/` + regexp.QuoteMeta(d.Name) + ` +` + regexp.QuoteMeta(d.Example) + ` +\S.*  curl -i -H 'X-Api-Key: alice' 'http://HOST/` + regexp.QuoteMeta(d.Name) + `'$`)
		if !line.MatchString(got) {
			t.Errorf("there is no line for %s in:\n%s", d.Name, got)
		}
	}
}

// What each contract promises, with the numbers of its example.
func TestMost(t *testing.T) {
	tests := []struct{ algorithm, want string }{
		{"token-bucket{burst=10,rate=5/1s}", "10 + 5/s*T"},
		{"gcra{burst=10,rate=100/m}", "10 + 100/m*T"},
		{"meter{burst=10,rate=5/1s}", "10 + 5/s*T"},
		{"lumps{burst=10,rate=6/3s}", "10 + 6*ceil(T/3s)"},
		{"lumps{burst=4,rate=6/3s}", "4 + 4*ceil(T/3s)"}, // a lump fills it
		{"fixed-window{rate=100/m,align=epoch}", "100*(ceil(T/1m)+1)"},
		{"sliding-log{rate=10/10s}", "10*(floor(T/10s)+1)"},
		{"sliding-counter{rate=10/10s}", "10 + 10*T/10s"},
		{"queue{burst=10,rate=5/1s}", "1 + 5/s*T released, after at most 2s"},
		{"nginx{rate=2/s,burst=5}", "6 + 2/s*(T+1ms)"},
		{"concurrency{burst=10}", "no limit, 10 at the same time"},
	}
	for _, tt := range tests {
		m, err := mode.Parse(tt.algorithm)
		if err != nil {
			t.Fatal(err)
		}
		a, err := limiter.New(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := most(a.Promise()); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.algorithm, got, tt.want)
		}
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{time.Minute: "1m", time.Hour: "1h", 90 * time.Second: "1m30s", 10 * time.Second: "10s", 100 * time.Minute: "1h40m", 500 * time.Millisecond: "500ms"} {
		if got := short(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

func TestCurl(t *testing.T) {
	tests := []struct {
		keys []string
		want string
	}{
		{[]string{"ip"}, "'http://h/'"},
		{[]string{"none"}, "'http://h/'"},
		{[]string{"path"}, "'http://h/'"},
		{[]string{"header:X-Key"}, "-H 'X-Key: alice' 'http://h/'"},
		{[]string{"query:token"}, "'http://h/?token=alice'"},
		{[]string{"cookie:sid"}, "--cookie 'sid=alice' 'http://h/'"},
		{[]string{"header:A", "query:b+header:A+cookie:c", "query:d+cookie:e"}, "-H 'A: alice' --cookie 'c=alice; e=alice' 'http://h/?b=alice&d=alice'"},
	}
	for _, tt := range tests {
		sign := server.Sign{Place: server.Place{URL: "http://h"}, Path: "/"}
		for _, text := range tt.keys {
			k, err := key.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			sign.Limits = append(sign.Limits, server.Promise{Key: k})
		}
		if got := curl(sign); got != tt.want {
			t.Errorf("%s: got %s, want %s", strings.Join(tt.keys, ", "), got, tt.want)
		}
	}
	elsewhere := server.Sign{Place: server.Place{URL: "https://localhost", Socket: "/run/t.sock", TLS: true}, Path: "/x"}
	if got, want := curl(elsewhere), "--cacert target.pem --unix-socket '/run/t.sock' 'https://localhost/x'"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
