package probes

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/dnscache"

	"github.com/ratehammer/ratehammer/scenarios"
)

func TestGuard(t *testing.T) {
	tests := []struct {
		host, addr string
		allowed    []string
		want       bool
	}{
		{"localhost", "127.0.0.1", nil, true},
		{"localhost", "::1", nil, true},
		{"staging", "10.1.2.3", nil, true},
		{"staging", "192.168.1.1", nil, true},
		{"staging", "fd00::1", nil, true},
		{"staging", "::ffff:10.1.2.3", nil, true},
		{"api.example", "198.51.100.7", nil, false},
		{"api.example", "2001:db8::1", nil, false},
		{"api.example", "198.51.100.7", []string{"API.example"}, true},
		{"api.example", "198.51.100.7", []string{"198.51.100.7"}, true},
		{"api.example", "198.51.100.7", []string{"example"}, false},
		{"evil.example", "198.51.100.7", []string{"api.example"}, false},
	}
	for _, tt := range tests {
		err := Guard{tt.allowed}.check(tt.host, netip.MustParseAddr(tt.addr))
		if (err == nil) != tt.want {
			t.Errorf("%s at %s, allowed %q: got %v", tt.host, tt.addr, tt.allowed, err)
		}
		if err != nil && !strings.Contains(Hint(err), "--allow "+tt.host) {
			t.Errorf("the hint %q does not say how to allow", Hint(err))
		}
	}
}

// names is a name service whose answers are given in turn.
type names struct {
	answers [][]string
	errs    []error
	asked   int
}

func (n *names) LookupHost(context.Context, string) ([]string, error) {
	i := min(n.asked, len(n.answers)-1)
	n.asked++
	return n.answers[i], n.errs[i]
}

func (n *names) LookupAddr(context.Context, string) ([]string, error) { return nil, errors.New("no") }

// A first look-up that fails is tried again, although the cache keeps failures.
func TestResolveTriesAgain(t *testing.T) {
	n := &names{answers: [][]string{nil, {"127.0.0.1", "127.0.0.2"}}, errs: []error{errors.New("busy"), nil}}
	a := &addresses{host: "limiter.test-again", dns: &dnscache.Resolver{Resolver: n}}
	if err := a.find(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := []string{a.next().String(), a.next().String(), a.next().String()}
	if strings.Join(got, " ") != "127.0.0.1 127.0.0.2 127.0.0.1" {
		t.Errorf("got %v, want the two addresses in turn", got)
	}
	if !a.local() {
		t.Errorf("127.0.0.0/8 is on this machine")
	}
}

// One public address among several is refused before anything is sent.
func TestResolveGuardsEveryAddress(t *testing.T) {
	n := &names{answers: [][]string{{"127.0.0.1", "198.51.100.7"}}, errs: []error{nil}}
	a := &addresses{host: "limiter.test-guard", dns: &dnscache.Resolver{Resolver: n}}
	if err := a.find(t.Context()); err == nil || !strings.Contains(err.Error(), "198.51.100.7") {
		t.Errorf("got %v, want a refusal of 198.51.100.7", err)
	}
}

func TestAnnounced(t *testing.T) {
	tests := []struct {
		header string
		want   string // burst, rate; empty: nothing usable
		why    string
	}{
		{`"default";q=10;w=2`, "default 10 10/2s", ""},
		{`"burst";q=100;w=60, "daily";q=1000;w=86400`, "burst 100 100/m daily 1000 1000/d", ""},
		{`10;w=2`, " 10 10/2s", ""}, // as of draft -07
		{`10;w=2, 100;w=60`, " 10 10/2s  100 100/m", ""},
		{`10;w=2;name="per-ip"`, "per-ip 10 10/2s", ""},
		{``, "", ""},
		{`quota;t=1`, "", "is no policy"},
		{`10`, "", "no w"},
		{`0;w=10`, "", "admits 0"},
		{`-1;w=10`, "", "a quota of -1"},
		{`"default";q=10`, "", "no w"},
		{`"default";w=10`, "", "no q"},
		{`"default";q=0;w=10`, "", "admits 0"},
		{`"default";q=10;w=0`, "", "a window of 0"},
		{`"bytes";q=10;w=1;qu="content-bytes"`, "", "counts content-bytes"},
		{`"default";q=10;w=`, "", "no list of policies"},
		{`("a" "b");q=1;w=1`, "", "a list where a policy"},
	}
	for _, tt := range tests {
		h := http.Header{}
		if tt.header != "" {
			h.Set("RateLimit-Policy", tt.header)
		}
		limits, why := Announced(h)
		var got []string
		for _, l := range limits {
			got = append(got, l.Name, itoa(l.Burst), l.Rate.String())
		}
		if strings.Join(got, " ") != tt.want || !strings.Contains(why, tt.why) || (tt.why == "") != (why == "") {
			t.Errorf("%q: got %q, %q, want %q, %q", tt.header, strings.Join(got, " "), why, tt.want, tt.why)
		}
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func FuzzAnnounced(f *testing.F) {
	f.Add(`"default";q=10;w=2`)
	f.Add(`10;w=2, 7;w=1`)
	f.Add(`"a";q=1;w=1;pk=:aGk=:, "b"`)
	f.Fuzz(func(t *testing.T, text string) {
		limits, _ := Announced(http.Header{"Ratelimit-Policy": {text}})
		for _, l := range limits {
			if l.Burst < 1 || l.Rate.Count < 1 || l.Rate.Per < time.Second {
				t.Errorf("%q announced %+v", text, l)
			}
		}
	})
}

// Invented keys differ from run to run and from each other; given ones are sent as they are.
func TestKeyValues(t *testing.T) {
	g := Gun{target: Target{Nonce: "n1", Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "K"}, Values: map[string]string{"key 1": "secret"}}, invented: map[string]uint32{}}
	if got := g.value(scenarios.Ask{Key: "key 1"}); got != "secret" {
		t.Errorf("got %q", got)
	}
	if a, b := g.value(scenarios.Ask{Key: "a/1"}), g.value(scenarios.Ask{Key: "a/2"}); a == b {
		t.Errorf("two labels give one value %q", a)
	}
	seen := map[string]bool{}
	for i := range 100_000 {
		ip := g.invent(itoa(int64(i)))
		if !ip.IsLoopback() || ip == netip.MustParseAddr("127.0.0.1") {
			t.Errorf("got %v, want another address of 127.0.0.0/8", ip)
		}
		seen[ip.String()] = true
	}
	if len(seen) != 100_000 {
		t.Errorf("100,000 labels give %d addresses: two keys would share a budget", len(seen))
	}
	if first, again := g.invent("7"), g.invent("7"); first != again {
		t.Errorf("one label gives %v and %v", first, again)
	}
}
