package assertions

import (
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// charge is the request as far as it may have taken tokens. What costs more than
// a limit can ever hold was let in by no limiter that keeps it, whatever was
// answered instead of a refusal, such as 400 or 413; it may all the same have
// been the first that the key was asked for.
func (c *court) charge(b *brief) *brief {
	if b.outcome == results.Admitted {
		return b
	}
	for _, l := range c.limits {
		if l.Contract != scenarios.BestEffort && b.cost > l.Size() {
			free := *b
			free.cost = 0
			return &free
		}
	}
	return b
}
