package assertions

import (
	"fmt"
	"strings"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// telling is the order in which broken findings say most about the cause: a
// limiter that is absent also exceeds its bound, and keys that share a budget
// also refuse too much.
var telling = [...]string{CheckEnforced, CheckIsolation, CheckOutage, CheckCarried, CheckLockout, CheckUpper, CheckLower, CheckWindow, CheckExact, CheckOrder, CheckPositive, CheckHonest, CheckTight, CheckSyntax, CheckPresent, CheckRecovery}

// headline is the answer in one line.
func headline(v results.Verdict, run *results.Run, limits []scenarios.Limit) string {
	switch v.Status {
	case results.Broken:
		return brokenLine(v)
	case results.Kept:
		return keptLine(v, limits)
	}
	for _, first := range []string{CheckIsolation, ""} { // who shares a budget explains the rest
		for _, f := range v.Findings {
			if f.Level == results.Must && f.Status == results.Inconclusive && (first == "" || f.Check == first) {
				return f.Text
			}
		}
	}
	for _, f := range v.Findings {
		if f.Status == results.Inconclusive {
			return f.Text
		}
	}
	return "nothing was checked"
}

func brokenLine(v results.Verdict) string {
	for _, check := range telling {
		for _, f := range v.Findings {
			if f.Check == check && f.Status == results.Broken && f.Level == results.Must {
				return f.Text
			}
		}
	}
	for _, f := range v.Findings { // advice that --strict made a promise
		if f.Status == results.Broken {
			return f.Text
		}
	}
	return ""
}

func keptLine(v results.Verdict, limits []scenarios.Limit) string {
	var said []string
	for i, l := range limits {
		s := l.String()
		if l.Contract == scenarios.BestEffort {
			said = append(said, s+" promises nothing; "+done(v, l))
			continue
		}
		if r := v.Resolutions[i]; r.RatePct != nil {
			s += fmt.Sprintf(" (an error of %s %% in the rate%s would have been seen)", digits3(*r.RatePct), burstSeen(r, l))
		}
		said = append(said, s)
	}
	return strings.Join(said, "; ")
}

// done says what a limit that promises nothing did against its numbers.
func done(v results.Verdict, l scenarios.Limit) string {
	for _, f := range v.Findings {
		if f.Limit == l.Name && f.Status == results.Broken {
			return f.Text
		}
	}
	return "it did what its numbers say, as far as was seen"
}

// burstSeen says which errors in the burst a resolution excludes.
func burstSeen(r results.Resolution, l scenarios.Limit) string {
	switch {
	case r.BurstLow != nil && r.BurstHigh != nil:
		return fmt.Sprintf(", a burst of %d or less, or of %d or more,", *r.BurstLow, *r.BurstHigh)
	case r.BurstHigh != nil:
		return fmt.Sprintf(", a burst of %d or more,", *r.BurstHigh)
	case r.BurstLow != nil:
		return fmt.Sprintf(", a burst of %d or less,", *r.BurstLow)
	}
	return ""
}
