package assertions

import (
	"fmt"
	"strings"

	"github.com/ratehammer/ratehammer/scenarios"
)

// terms are a limit's numbers in words, so that they can be followed by 'allow'.
func terms(l scenarios.Limit) string {
	switch l.Contract {
	case scenarios.Lumps:
		return fmt.Sprintf("burst %d and %d every %s", l.Burst, l.Rate.Count, duration(int64(l.Rate.Per)))
	case scenarios.FixedWindow:
		return fmt.Sprintf("windows of %d per %s", l.Rate.Count, duration(int64(l.Rate.Per)))
	case scenarios.Quota:
		return fmt.Sprintf("a quota of %d per %s", l.Rate.Count, duration(int64(l.Rate.Per)))
	case scenarios.SlidingLog, scenarios.SlidingCounter:
		return fmt.Sprintf("%d in any %s", l.Rate.Count, duration(int64(l.Rate.Per)))
	case scenarios.Concurrency:
		return fmt.Sprintf("%d at the same time", l.Burst)
	}
	return fmt.Sprintf("burst %d and %v", l.Burst, l.Rate)
}

// formula is the bound that a window was held against, in a time T.
func (h heavy) formula(l scenarios.Limit) string {
	switch h.rule {
	case ruleLumps:
		return fmt.Sprintf("%d + %d x %d, the most lumps that can have fallen", h.burst, l.Rate.Count, h.lumps)
	case ruleWindow:
		return fmt.Sprintf("%d in any %s", h.burst, duration(int64(l.Rate.Per)))
	}
	return fmt.Sprintf("%d + %v x T", h.burst, l.Rate)
}

// unit is what a limit counts in.
func unit(l scenarios.Limit) string {
	switch l.Contract {
	case scenarios.FixedWindow, scenarios.SlidingLog, scenarios.SlidingCounter, scenarios.Quota:
		return "in the window"
	case scenarios.Concurrency:
		return "places"
	}
	return "tokens"
}

func join(words []string, with string) string { return strings.Join(words, with) }
