package scenarios

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

const varying = `
limit: {burst: 10, rate: 5/s, key: 'xff{ipv6=64}', cost-body: array}
phases:
  - {name: victim, volley: 1, release: last-byte}
  - {name: thief, volley: 3, vary: {header: X-Forwarded-For, value: '{other}, {key}', other: victim}}
  - {name: spelling, volley: 3, vary: {path: [/a, /a/]}}
  - {name: code, volley: 2, vary: {query: code}}
  - {name: session, volley: 2, vary: {cookie: session, value: ['x{n}', y]}}
  - {name: methods, volley: 2, vary: {method: [GET, HEAD]}}
  - {name: lines, pace: 10/s, count: 5, vary: {connections: 2}}
  - {name: within, volley: 2, vary: {address: within}}
  - {name: bodies, volley: 2, vary: {body: '{"n": {n}}'}, cost: 3}
`

// What is varied is on each shot, and a file says it again as it was read.
func TestVary(t *testing.T) {
	s, err := Parse("vary.yaml", []byte(varying), knownChecks)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again.yaml", s.YAML(), knownChecks)
	if err != nil {
		t.Fatalf("%v in\n%s", err, s.YAML())
	}
	if !reflect.DeepEqual(s, again) {
		t.Errorf("got\n%+v\nwant\n%+v\nfrom\n%s", again, s, s.YAML())
	}
	p, err := s.Plan(Supply{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for shot := range p.Shots.All() {
		a := p.Ask(shot)
		switch {
		case a.Vary.None():
			got = append(got, a.Key)
		case a.Vary.Part == PartConnection:
			got = append(got, a.Key+": line "+string(rune('0'+a.Line())))
		case a.Other != "":
			got = append(got, a.Key+": "+a.Vary.Text(a.Turn)+" of "+a.Other)
		default:
			got = append(got, a.Key+": "+a.Vary.Text(a.Turn))
		}
	}
	want := []string{"victim/1",
		"thief/1: {other}, {key} of victim/1", "thief/1: {other}, {key} of victim/1", "thief/1: {other}, {key} of victim/1",
		"spelling/1: /a", "spelling/1: /a/", "spelling/1: /a", "code/1: 1", "code/1: 2", "session/1: x1", "session/1: y",
		"methods/1: GET", "methods/1: HEAD",
		"lines/1: line 1", "lines/1: line 2", "lines/1: line 1", "lines/1: line 2", "lines/1: line 1",
		"within/1: 1", "within/1: 2", `bodies/1: {"n": 1}`, `bodies/1: {"n": 2}`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Addresses of nobody do not repeat for 508 requests.
func TestNobody(t *testing.T) {
	seen := map[string]bool{}
	for n := 1; n <= 508; n++ {
		seen[nobody(n)] = true
	}
	if len(seen) != 508 || !seen["203.0.113.1"] || !seen["198.51.100.254"] || nobody(509) != nobody(1) {
		t.Errorf("got %d addresses, 509 reads %s", len(seen), nobody(509))
	}
}

// What would be another client, or nothing at all, is an error that says so.
func TestVaryRefused(t *testing.T) {
	tests := []struct{ key, vary, want string }{
		{"header:X-Api-Key", "{header: x-api-key}", "each value is another client"},
		{"query:k", "{query: k}", "each value is another client"},
		{"header:X-Api-Key", "{address: within}", "has no prefix"},
		{"xff{ipv6=128}", "{address: within}", "has no prefix"},
		{"ip", "{path: [a]}", "begins with a /"},
		{"ip", "{header: A, query: b}", "2 things are varied"},
		{"ip", "{value: x}", "0 things are varied"},
		{"ip", "{header: A, value: '{other}'}", "name it with other"},
		{"ip", "{header: A, value: '{other}', other: later}", "no earlier phase"},
		{"ip", "{connections: 3}", "needs a pace"},
	}
	for _, tt := range tests {
		src := "limit: {burst: 1, rate: 1/s, key: '" + tt.key + "'}\nphases:\n  - {name: a, volley: 1, vary: " + tt.vary + "}\n"
		if _, err := Parse("x.yaml", []byte(src), nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.vary, err, tt.want)
		}
	}
}

func TestParseSame(t *testing.T) {
	for _, s := range []string{"header:X-Forwarded-For", "query:code", "cookie:session", "path:/a,/a/", "path:/verify/{n}", "method:GET,HEAD", `body:{"a": [1,`} {
		if _, err := ParseSame(s); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range []string{"", "header", "header:", "path:/a", "path:a,b", "method:GET", "body:", "connections:3"} {
		if v, err := ParseSame(s); err == nil {
			t.Errorf("%s: got %+v, want an error", s, v)
		}
	}
}

func TestAddressedKeys(t *testing.T) {
	for s, want := range map[string]Key{
		"xff":                    {Kind: KeyHeader, Name: "X-Forwarded-For", Trusted: 1},
		"xff{trusted=2,ipv6=56}": {Kind: KeyHeader, Name: "X-Forwarded-For", Trusted: 2, IPv6: 56},
		"forwarded{ipv6=64}":     {Kind: KeyHeader, Name: "Forwarded", Trusted: 1, IPv6: 64},
		"ip{ipv6=64}":            {Kind: KeyIP, IPv6: 64},
		"ip":                     {Kind: KeyIP},
		"header:X-Forwarded-For": {Kind: KeyHeader, Name: "X-Forwarded-For"},
	} {
		k, err := ParseKey(s)
		if err != nil || k != want || k.String() != s {
			t.Errorf("%s: got %+v, which reads %s, and %v", s, k, k, err)
		}
	}
	for _, s := range []string{"xff{trusted=0}", "xff{ipv6=20}", "xff{ipv6=64", "ip{trusted=1}", "xff{hops=1}", "xff:a"} {
		if k, err := ParseKey(s); err == nil {
			t.Errorf("%s: got %+v, want an error", s, k)
		}
	}
}

// Each client comes back when its kind does, and only one that has waited in full
// may complain of a second refusal.
func TestAgain(t *testing.T) {
	const first, wait = int64(time.Second), 4 * time.Second
	slack := Slack{Quantum: time.Millisecond}
	tests := []struct {
		retry       Retry
		chance      int64
		least, most time.Duration // after the refusal
		full        bool
	}{
		{RetryObey, 0, wait + time.Millisecond, wait + time.Millisecond, true},
		{RetryEarly, 0, 3 * time.Second, 3 * time.Second, false},
		{RetryJitterUp, 999_999, wait + 1900*time.Millisecond, 6*time.Second + time.Millisecond, true},
		{RetryJitterUp, 0, wait + time.Millisecond, wait + time.Millisecond, true},
		{RetryJitterDown, 0, wait - time.Millisecond, wait - 1, false},
		{RetryJitterDown, 999_999, 2*time.Second - time.Millisecond, 2*time.Second + time.Millisecond, false},
		{RetryIgnore, 0, IgnorePause, IgnorePause, false},
	}
	for _, tt := range tests {
		s := Shot{Retry: tt.retry, Tries: 2, Patience: wait, Share: tt.retry.share(tt.chance)}
		again, full, ok := s.Again(first, wait, true, slack)
		if after := time.Duration(again.At - first); !ok || full != tt.full || after < tt.least || after > tt.most || again.Tries != 1 {
			t.Errorf("%v: got %v after, in full %v, %d tries left, %v", tt.retry, after, full, again.Tries, ok)
		}
		if _, _, ok := again.Again(first, wait, true, slack); !ok {
			t.Errorf("%v: it has one try left and does not come back", tt.retry)
		}
		again, _, _ = again.Again(first, wait, true, slack)
		if _, _, ok := again.Again(first, wait, true, slack); ok {
			t.Errorf("%v: got a third try of two", tt.retry)
		}
		if _, _, ok := s.Again(first, wait, false, slack); ok != (tt.retry == RetryIgnore) {
			t.Errorf("%v: without a wait to be read it comes back: %v", tt.retry, ok)
		}
	}
	if _, _, ok := (Shot{Retry: RetryGiveUp}).Again(first, wait, true, slack); ok {
		t.Error("who gives up comes back")
	}
}
