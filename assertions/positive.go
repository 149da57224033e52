package assertions

import (
	"fmt"

	"github.com/ratehammer/ratehammer/results"
)

// CheckPositive is the id of the rule that a refusal asks for some time: a
// client that is told to wait for nothing comes back at once and is refused again.
const CheckPositive = "retry-after.positive"

func newPositive() *refusals {
	return &refusals{id: CheckPositive,
		good: "Retry-After asks for a wait", none: "not asked: no refusal carried a Retry-After that can be read",
		fault: func(f *flight) (string, bool) {
			switch {
			case !f.asks.Readable():
				return "", false
			case f.asks.Wait < 0:
				return fmt.Sprintf("Retry-After lies %s before the answer's own Date", duration(int64(-f.asks.Wait))), true
			case f.asks.Wait == 0 && f.asks.Form == results.RetrySeconds:
				return "Retry-After: 0", true
			}
			return "", true
		}}
}
