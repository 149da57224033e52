package library

import (
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Each phase of a drawn scenario is explained, however many of its kind there are.
func TestPhasesAreExplained(t *testing.T) {
	l := scenarios.Limit{Burst: 10, Rate: scenarios.Rate{Count: 5, Per: time.Second}, Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}}
	standard, _ := Standard(l, Circumstances{})
	thorough, _ := Thorough(l, Circumstances{})
	for _, s := range []scenarios.Scenario{standard, thorough} {
		if !Drawn(s.Name) {
			t.Errorf("%s is not known to be drawn here", s.Name)
		}
		for _, p := range s.Phases {
			if Meaning(l, p.Name) == "" {
				t.Errorf("phase %s of %s is not explained", p.Name, s.Name)
			}
		}
	}
	if got, want := Meaning(l, "crush-3"), crush().Says; got != want {
		t.Errorf("crush-3 is explained by %q, want %q", got, want)
	}
	if got := Meaning(l, "mine"); got != "" {
		t.Errorf("a phase of somebody else is explained by %q", got)
	}
}
