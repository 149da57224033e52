package assertions

import "github.com/ratehammer/ratehammer/results"

// CheckPresent is the id of the advice that a refusal says when to come back
// (RFC 6585 section 4: a 429 MAY carry Retry-After).
const CheckPresent = "retry-after.present"

func newPresent() *refusals {
	return &refusals{id: CheckPresent, level: results.Should,
		good: "Retry-After is there", none: "not asked: nothing was refused",
		fault: func(f *flight) (string, bool) {
			if f.asks.Form == results.RetryAbsent {
				return "Retry-After is missing", true
			}
			return "", true
		}}
}
