package library

import (
	"fmt"
	"slices"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Lead parts several limits, which all hold, into the one that a scenario is fitted to
// and those beside it: the lead is the one that admits the most at once, since what is
// a volley for it is one for the others.
func Lead(limits []scenarios.Limit) (lead scenarios.Limit, beside []scenarios.Limit) {
	i := 0
	for j, l := range limits {
		if l.Size() > limits[i].Size() {
			i = j
		}
	}
	return limits[i], slices.Delete(slices.Clone(limits), i, i+1)
}

// Together are limits that all hold, each under a name: those without one are called
// limit-1, limit-2 and so on, by their place. A single limit needs none.
func Together(limits ...scenarios.Limit) []scenarios.Limit {
	limits = slices.Clone(limits)
	for i := range limits {
		if limits[i].Name == "" && len(limits) > 1 {
			limits[i].Name = fmt.Sprintf("limit-%d", i+1)
		}
	}
	return limits
}
