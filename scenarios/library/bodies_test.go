package library

import (
	"strings"
	"testing"

	"github.com/ratehammer/ratehammer/scenarios"
)

// What is not understood is asked about where it was declared to be counted, and
// where its answer tells so.
func TestBodiesAreDeclared(t *testing.T) {
	body, err := scenarios.ParseSame("body:{")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		admitted string
		same     []scenarios.Vary
		why      string // it is left out; empty: it is fired
	}{
		{"200-399,400", []scenarios.Vary{body}, ""},
		{"200-299,422", []scenarios.Vary{body}, ""},
		{"200-399", []scenarios.Vary{body}, "--admitted 200-399,400"},
		{"200-399,400", nil, "--same 'body:{'"},
	} {
		l := keyed(t, "header:X-Api-Key")
		if l.Answers.Admitted, err = scenarios.ParseRule(tt.admitted); err != nil {
			t.Fatal(err)
		}
		s, left := Thorough(l, Circumstances{Same: tt.same})
		why, fired := "", false
		for _, o := range left {
			if o.Track == "bodies" {
				why = o.Why
			}
		}
		for _, p := range s.Phases {
			fired = fired || p.Vary.Part == scenarios.PartBody
		}
		if fired != (tt.why == "") || !strings.Contains(why, tt.why) || (why == "") != (tt.why == "") {
			t.Errorf("--admitted %s, same %v: got fired %v and %q, want %q", tt.admitted, tt.same, fired, why, tt.why)
		}
	}
}
