package assertions

import (
	"fmt"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// early takes back that nothing is limited, where firing ended with the first proof:
// a limiter that admits a few too many had no time to refuse the rest. It stands where
// twice as much as is allowed went by without a refusal, for twice as long as the
// limit takes to fill. It reports whether it took something back: then no other
// limiter explains the record any better, since all that admit as much do.
func early(f *results.Finding, limits []scenarios.Limit) bool {
	if f.Check != CheckEnforced || f.Status != results.Broken {
		return false
	}
	for _, l := range limits {
		if l.Name != f.Limit || f.Got >= 2*f.Allowed && f.ToNS-f.FromNS >= 2*int64(l.Fill()) {
			continue
		}
		*f = results.Finding{Check: f.Check, Level: f.Level, Limit: f.Limit,
			Text: fmt.Sprintf("not seen: firing ended with the first proof, %s within %s, before a refusal was to be seen",
				plural(int64(f.Got), "admitted request"), duration(f.ToNS-f.FromNS))}
		return true
	}
	return false
}
