package library

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Costs are fired only where the promise says how they are stated, behind all
// else, which stays as it is.
func TestCostsAreAskedWhereTheyAreStated(t *testing.T) {
	for _, c := range scenarios.Contracts {
		for _, keys := range []int{0, 1} {
			l := scenarios.Limit{Contract: c, Slack: scenarios.DefaultSlack()}
			has, _ := c.Numbers()
			if has.Burst {
				l.Burst = 10
			}
			if has.Rate {
				l.Rate = scenarios.Rate{Count: 10, Per: 2 * time.Second}
			}
			without, _ := Standard(l, Circumstances{Seed: 3, Keys: keys})
			l.CostHeader = "X-Cost"
			if l.Check() != nil {
				continue // it has no costs
			}
			with, _ := Standard(l, Circumstances{Seed: 3, Keys: keys})
			n := len(without.Phases)
			if !reflect.DeepEqual(with.Phases[:n], without.Phases) {
				t.Errorf("%s, %d keys: costs change what else is fired", c, keys)
			}
			if len(with.Phases) == n || slices.ContainsFunc(with.Phases[n:], func(p scenarios.Phase) bool { return !strings.HasPrefix(p.Name, "cost-") }) {
				t.Errorf("%s, %d keys: got %+v, want phases about costs", c, keys, with.Phases[n:])
			}
			for _, p := range without.Phases {
				if p.Cost != 0 {
					t.Errorf("%s, %d keys: %s costs %d, and nobody said how", c, keys, p.Name, p.Cost)
				}
			}
		}
	}
}

// What has to be admitted fits into a full key, whatever its size, and what has
// to be refused does not.
func TestCostsFit(t *testing.T) {
	for size := int64(4); size < 3000; size += 1 + size/7 {
		l := scenarios.Limit{Burst: size, Rate: scenarios.Rate{Count: 10, Per: time.Second}, CostHeader: "X-Cost"}
		asked := map[string]int64{}
		for _, p := range newDesign(l, Circumstances{}).fit(cost()).phases {
			asked[p.Name] = int64(p.Volley) * max(1, p.Cost)
		}
		if got := asked["cost-fits"] + asked["cost-left"]; asked["cost-fits"] < 2 || asked["cost-left"] < 2 || got > size || got < size*9/10 {
			t.Errorf("%d tokens: %d and %d are asked for, want all of them", size, asked["cost-fits"], asked["cost-left"])
		}
		if got := asked["cost-after"]; got > size || got < size*3/4 {
			t.Errorf("%d tokens: %d are asked for after one too many, want most of them", size, got)
		}
		if got := asked["cost-volley"]; got <= size {
			t.Errorf("%d tokens: %d at once are not more than there are", size, got)
		}
		if got := asked["cost-oversize"]; got != size+1 {
			t.Errorf("%d tokens: %d are asked for at once, want one too many", size, got)
		}
	}
}
