package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/results"
)

// Who a client is, is asked over real connections where it was declared what makes
// no difference: a mistake is found and named, and the right server is not accused.
func TestIdentityIsAsked(t *testing.T) {
	tests := []struct {
		flags  []string
		defect string
		says   string
	}{
		{[]string{"--key", "xff{trusted=1,ipv6=64}"}, "xff-leftmost", "X-Forwarded-For chooses the budget"},
		{[]string{"--key", "forwarded{ipv6=56}"}, "v6-per-address{bits=72}", "the address within its prefix chooses the budget"},
		{[]string{"--key", "ip", "--same", "header:X-Forwarded-For"}, "chosen-key{part=header:X-Forwarded-For}", "X-Forwarded-For chooses the budget"},
		{[]string{"--same", "path:/verify/{n}"}, "chosen-key{part=path}", "the path chooses the budget"},
		{[]string{"--cost-body", "array"}, "batch{charge=1}", "requests admitted within"},
	}
	for _, tt := range tests {
		for _, wrong := range []bool{true, false} {
			args := append([]string{"check", "--no-diagnose"}, tt.flags...)
			if wrong {
				args = append(args, "--defect", tt.defect)
			}
			t.Run(strings.Join(args[2:], " "), func(t *testing.T) {
				t.Parallel()
				_, r := hammer(t, args...)
				switch {
				case wrong && (r.Status != results.Broken || !strings.Contains(r.Headline, tt.says)):
					t.Errorf("got %v: %s, want broken, with %q", r.Status, r.Headline, tt.says)
				case !wrong && r.Status == results.Broken:
					t.Errorf("accused: %q: %s", brokenChecks(r), r.Headline)
				}
			})
		}
	}
}

// What is declared and cannot be is said.
func TestIdentityErrors(t *testing.T) {
	for flags, want := range map[string]string{
		"--same header":                          "cannot be the name of a header",
		"--same trailer:x":                       "is no part of a request",
		"--same path:/a":                         "give several",
		"--key none --identity":                  "exclude each other",
		"--key xff{ipv6=2}":                      "give 40 to 128",
		"--cost-body list":                       "write array",
		"--cost-body array --cost-header X-Cost": "not from both",
	} {
		args := append([]string{"plan", "--burst", "10", "--rate", "5/s"}, strings.Fields(flags)...)
		var out, talk bytes.Buffer
		if code := run(args, &out, &talk); code != exitFailed || !strings.Contains(talk.String(), want) {
			t.Errorf("%s: got exit code %d and %q, want it to say %q", flags, code, talk.String(), want)
		}
	}
}
