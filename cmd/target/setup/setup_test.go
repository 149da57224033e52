package setup

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
	"github.com/ratehammer/ratehammer/cmd/target/key"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/server"
	"github.com/ratehammer/ratehammer/scenarios/document"
)

const everything = `
routes: # before what they name
  - path: /login
    listen: [main, safe]
    limits: [per-key, everybody]
    mode: order{pending=4}
    answers: {status: 503, fields: draft}
    exempt: [/login/health, /login/static/]
    head: free
    options: preflight
    origins: ["https://app.example", "https://other.example"]
  - {path: /free, limits: []}
  - {limits: everybody, listen: main}
limits:
  - name: per-key
    algorithm: token-bucket{burst=10,rate=5/s}
    key: ip{ipv6=48}+header:X-Api-Key
    cost-header: X-Cost
    defects: ["off-by-one{delta=+1}", "ra{form=zero}"]
  - {name: everybody, algorithm: "token-bucket{burst=100,rate=50/s}"}
listeners:
  - {name: main, address: 127.0.0.1:8080}
  - {name: safe, address: 127.0.0.1:8443, tls: true, http: http2}
answers:
  retry-after: date
  fields: [ratelimit, x-ratelimit-epoch]
admin: 127.0.0.1:9090
admin-token: secret
truth-keep: 4096
max-connections: 100
max-waiting: 50
store: memory
`

func parseMode(t *testing.T, s string) mode.Mode {
	t.Helper()
	m, err := mode.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestParse(t *testing.T) {
	got, err := Parse("target.yaml", []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	// A key holds functions, which cannot be compared.
	if k := got.Limits[0].Key.String(); k != "ip{ipv6=48}+header:X-Api-Key" {
		t.Errorf("key: got %s", k)
	}
	got.Limits[0].Key = key.Key{}
	fields := []string{"ratelimit", "x-ratelimit-epoch"}
	want := server.Config{
		Listeners: []server.Listener{
			{Name: "main", Address: "127.0.0.1:8080"},
			{Name: "safe", Address: "127.0.0.1:8443", TLS: true, HTTP: "http2"},
		},
		Limits: []server.Limit{
			{
				Name: "per-key", Algorithm: parseMode(t, "token-bucket{burst=10,rate=5/s}"), CostHeader: "X-Cost", Store: parseMode(t, "memory"),
				Defects: []mode.Mode{parseMode(t, "off-by-one{delta=+1}"), parseMode(t, "ra{form=zero}")},
			},
			{Name: "everybody", Algorithm: parseMode(t, "token-bucket{burst=100,rate=50/s}"), Store: parseMode(t, "memory")},
		},
		Routes: []server.Route{
			{
				Path: "/login", Listeners: []string{"main", "safe"}, Limits: []string{"per-key", "everybody"}, Mode: parseMode(t, "order{pending=4}"),
				Answers: dialect.Settings{Status: 503, RetryAfter: "date", Fields: []string{"draft"}},
				Exempt:  []string{"/login/health", "/login/static/"}, Head: "free", Options: "preflight",
				Origins: []string{"https://app.example", "https://other.example"},
			},
			{Path: "/free", Limits: []string{}, Answers: dialect.Settings{RetryAfter: "date", Fields: fields}},
			{Limits: []string{"everybody"}, Listeners: []string{"main"}, Answers: dialect.Settings{RetryAfter: "date", Fields: fields}},
		},
		Admin: "127.0.0.1:9090", AdminToken: "secret", TruthKeep: 4096, MaxConns: 100, MaxWaiting: 50,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// A file that only names limits has them all on every path, answered as it says.
func TestWithoutRoutes(t *testing.T) {
	got, err := Parse("target.yaml", []byte("answers: {status: 503}\nlimits:\n  - {name: a, algorithm: 'token-bucket{burst=1,rate=1/s}'}\n  - {name: b, algorithm: 'token-bucket{burst=2,rate=1/s}'}\n"))
	want := []server.Route{{Limits: []string{"a", "b"}, Answers: dialect.Settings{Status: 503}}}
	if err != nil || !reflect.DeepEqual(got.Routes, want) {
		t.Errorf("got %+v, %v, want %+v", got.Routes, err, want)
	}
}

// Each mistake is told at its place, with what to do about it.
func TestProblems(t *testing.T) {
	const limit = "limits: [{name: a, algorithm: 'token-bucket{burst=1,rate=1/s}'}]\n"
	tests := []struct{ name, src, at, says string }{
		{"empty", "", "target.yaml: ", "the file is empty"},
		{"no YAML", "a: [", "target.yaml:1:", "not valid YAML"},
		{"no limit", "admin: 127.0.0.1:0", "target.yaml:1:1:", "no limit is given"},
		{"an unknown field", limit + "listener: x", "target.yaml:2:1:", `did you mean "listeners"?`},
		{"an unknown algorithm", "limits:\n  - name: a\n    algorithm: token-buckets{burst=1,rate=1/s}", "target.yaml:3:16:", "did you mean token-bucket?"},
		{"a mode that is not of the grammar", "limits:\n  - name: a\n    algorithm: token-bucket{burst=1", "target.yaml:3:16:", "not closed"},
		{"an unknown setting", "limits:\n  - name: a\n    algorithm: token-bucket{brust=1,rate=1/s}", "target.yaml:3:16:", "did you mean burst?"},
		{"a limit without a name", "limits:\n  - algorithm: token-bucket{burst=1,rate=1/s}", "target.yaml:2:5:", "the limit has no name"},
		{"a limit without an algorithm", "limits: [{name: a}]", "target.yaml:1:10:", "the limit has no algorithm"},
		{"two of one name", limit[:len(limit)-2] + ", {name: a, algorithm: 'token-bucket{burst=1,rate=1/s}'}]", "target.yaml:1:73:", `"a" is taken already`},
		{"a key", "limits:\n  - {name: a, algorithm: 'token-bucket{burst=1,rate=1/s}', key: 'head:X'}", "target.yaml:2:65:", "did you mean header?"},
		{"a defect", "limits:\n  - {name: a, algorithm: 'token-bucket{burst=1,rate=1/s}', defects: [of-by-one]}", "target.yaml:2:5:", "did you mean off-by-one?"},
		{"a store", limit + "store: memry", "target.yaml:2:8:", "did you mean memory?"},
		{"a fallback", "limits:\n  - {name: a, algorithm: 'token-bucket{burst=1,rate=1/s}', fallback: 'lump{burst=1,rate=1/s}'}", "target.yaml:2:70:", "did you mean lumps?"},
		{"two stores for one route", limit[:len(limit)-2] + ", {name: b, algorithm: 'gcra{burst=1,rate=1/s}', store: redis}]\nroutes: [{limits: [a, b]}]", "target.yaml:1:1:", "limits a and b are in different stores"},
		{"a listener", limit + "listeners: [{address: nonsense}]", "target.yaml:2:23:", "write HOST:PORT or unix:PATH"},
		{"a version of HTTP", limit + "listeners: [{http: http3}]", "target.yaml:2:20:", "version of HTTP"},
		{"a number", limit + "truth-keep: many", "target.yaml:2:13:", "whole number"},
		{"a route's limit", limit + "routes: [{limits: [b]}]", "target.yaml:2:20:", `limit "b" is not known`},
		{"a route's listener", limit + "listeners: [{name: main}]\nroutes: [{limits: a, listen: mian}]", "target.yaml:3:30:", `did you mean "main"?`},
		{"a route without limits", limit + "routes: [{path: /x}]", "target.yaml:2:10:", "limits: [] for a route without any"},
		{"a path", limit + "routes: [{path: x/../y, limits: a}]", "target.yaml:2:17:", "write one such as /y"},
		{"a mode", limit + "routes: [{limits: a, mode: ordr}]", "target.yaml:2:28:", "did you mean order?"},
		{"a status", limit + "answers: {status: 200}", "target.yaml:2:19:", "from 400 to 599"},
		{"fields", limit + "answers: {fields: [drafft]}", "target.yaml:2:20:", "did you mean draft?"},
		{"two meanings of a field", limit + "answers: {fields: [draft, draft-07]}", "target.yaml:2:10:", "choose one"},
		{"a method", limit + "routes: [{limits: a, head: preflight}]", "target.yaml:2:28:", "give limited or free"},
		{"an origin", limit + "routes: [{limits: a, origins: app.example}]", "target.yaml:2:31:", "such as https://app.example"},
		{"two routes for one path", limit + "routes: [{limits: a}, {path: /, limits: a}]", "target.yaml:1:1:", "two routes for /"},
		{"a list where a text is wanted", limit + "admin: [x]", "target.yaml:2:8:", "a list where a text is expected"},
		{"a text where fields are wanted", limit + "routes: [x]", "target.yaml:2:10:", "where fields are expected"},
	}
	for _, tt := range tests {
		_, err := Parse("target.yaml", []byte(tt.src))
		var problems document.Problems
		if !errors.As(err, &problems) {
			t.Errorf("%s: got %v, want problems", tt.name, err)
			continue
		}
		if len(problems) != 1 || !strings.HasPrefix(err.Error(), tt.at) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %d problems:\n%v\nwant one at %s that says %q", tt.name, len(problems), err, tt.at, tt.says)
		}
	}
}

// All mistakes of a file are told, not the first.
func TestAllProblemsAtOnce(t *testing.T) {
	src := `answers: {status: 20}
limits:
  - {name: a, algorithm: 'token-bucket{burst=0,rate=1/s}'}
  - {name: b, algorithm: 'token-bucket{burst=1,rate=1/s}', kye: ip}
listeners: [{address: x}]
routes:
  - {path: /a, limits: [a, c]}
  - {path: b, limits: b}
`
	_, err := Parse("target.yaml", []byte(src))
	var problems document.Problems
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	var at []int
	for _, p := range problems {
		at = append(at, p.Line)
	}
	if want := []int{1, 3, 4, 5, 7, 8}; !reflect.DeepEqual(at, want) {
		t.Errorf("got problems in lines %v, want %v:\n%v", at, want, err)
	}
}

// Whatever a file holds, it is read or its problems are told: and what is read
// can be started, but for its addresses and stores.
func FuzzParse(f *testing.F) {
	f.Add(everything)
	files, err := filepath.Glob("../../../docs/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src))
	}
	f.Add("limits: [{name: a, algorithm: 'token-bucket{burst=1,rate=1/s}'}]\nroutes: [{limits: [a], answers: {status: 403}}]")
	f.Fuzz(func(t *testing.T, src string) {
		cfg, err := Parse("target.yaml", []byte(src))
		if err != nil {
			return
		}
		if err := cfg.Check(); err != nil {
			t.Errorf("%q is read, and then: %v", src, err)
		}
	})
}
