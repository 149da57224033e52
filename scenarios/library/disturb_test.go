package library

import (
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Whatever a contract promises, what is fired while something happens can be planned.
func TestDisturbanceOfEachContract(t *testing.T) {
	for _, c := range scenarios.Contracts {
		l := scenarios.Limit{Contract: c, Answers: scenarios.DefaultAnswers(), Slack: scenarios.DefaultSlack(), Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}}
		has, _ := c.Numbers()
		if has.Burst {
			l.Burst = 7
		}
		if has.Rate {
			l.Rate = scenarios.Rate{Count: 7, Per: 2 * time.Second}
		}
		for _, d := range Disturbances() {
			for _, keys := range []int{0, 5} {
				s, left := Disturb(l, Circumstances{Keys: keys, Seed: 1}, []Disturbance{d})
				if len(left) > 0 {
					t.Errorf("%s, %s, %d keys: left out for %s", c, d.Name, keys, left[0].Why)
					continue
				}
				if err := s.Check(); err != nil {
					t.Errorf("%s, %s, %d keys: %v", c, d.Name, keys, err)
				}
			}
		}
	}
}
