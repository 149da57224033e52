package assertions

import (
	"fmt"

	"github.com/ratehammer/ratehammer/results"
)

// CheckSyntax is the id of the grammar of Retry-After (RFC 9110 section 10.2.3).
const CheckSyntax = "retry-after.syntax"

func newSyntax() *refusals {
	return &refusals{id: CheckSyntax,
		good: "Retry-After can be read", none: "not asked: no refusal carried Retry-After",
		fault: func(f *flight) (string, bool) {
			if f.asks.Form == results.RetryUnreadable {
				return fmt.Sprintf("Retry-After %q is neither whole seconds nor an HTTP-date,", f.hit.RetryAfter), true
			}
			return "", f.asks.Form != results.RetryAbsent
		}}
}
