package assertions

import (
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// charge is the request as far as it may have taken tokens. What costs more than
// a limit can ever hold was let in by no limiter that keeps it, whatever was
// answered instead of a refusal, such as 400 or 413; it may all the same have
// been the first that the key was asked for. What has no answer to go by may have
// been sent several times, each for a part of its cost: it took all there was.
func (c *court) charge(b *brief) *brief {
	if b.outcome == results.Admitted {
		return b
	}
	for _, l := range c.limits {
		if l.Contract == scenarios.BestEffort || b.cost <= l.Size() {
			continue
		}
		other := *b
		other.cost = 0
		if b.outcome == results.Unknown {
			other.cost = l.Size()
		}
		return &other
	}
	return b
}
