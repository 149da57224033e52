package library

import (
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// What is fired at several limits is a scenario like any other, whichever is named
// first, and asks each of them.
func TestSeveralLimits(t *testing.T) {
	limit := func(c scenarios.Contract, burst, count int64, per time.Duration) scenarios.Limit {
		return scenarios.Limit{Contract: c, Burst: burst, Rate: scenarios.Rate{Count: count, Per: per}, Answers: scenarios.DefaultAnswers(), Slack: scenarios.DefaultSlack()}
	}
	second, minute := limit(scenarios.TokenBucket, 10, 5, time.Second), limit(scenarios.FixedWindow, 0, 100, time.Minute)
	hour := limit(scenarios.SlidingLog, 0, 900, time.Hour)
	for _, limits := range [][]scenarios.Limit{{second, minute}, {minute, second}, {second, minute, hour}} {
		for _, draw := range []func(scenarios.Limit, Circumstances) (scenarios.Scenario, []Omission){Standard, Thorough} {
			for _, keys := range []int{0, 30} {
				all := Together(limits...)
				lead, beside := Lead(all)
				s, _ := draw(lead, Circumstances{Beside: beside, Keys: keys, Seed: 3})
				if err := s.Check(); err != nil {
					t.Fatalf("%v, %d keys: %v", all, keys, err)
				}
				if len(s.Limits) != len(all) {
					t.Errorf("%v: got %d limits", all, len(s.Limits))
				}
				for _, l := range beside {
					if !slices.ContainsFunc(s.Phases, func(p scenarios.Phase) bool { return p.Name == l.Name+": volley" }) {
						t.Errorf("%v, %d keys: nothing asks %s for its number at once: %v", all, keys, l.Name, s.Phases)
					}
				}
			}
		}
	}
}

func TestLead(t *testing.T) {
	small, large := scenarios.Limit{Name: "a", Burst: 2}, scenarios.Limit{Name: "b", Burst: 3}
	lead, beside := Lead([]scenarios.Limit{small, large})
	if lead.Name != "b" || len(beside) != 1 || beside[0].Name != "a" {
		t.Errorf("got %v beside %v", lead, beside)
	}
	named := Together(scenarios.Limit{}, scenarios.Limit{Name: "x"})
	if named[0].Name != "limit-1" || named[1].Name != "x" || Together(scenarios.Limit{})[0].Name != "" {
		t.Errorf("got %v", named)
	}
}
