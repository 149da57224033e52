package assertions

import (
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Suspect is what a verdict leaves open of where the breach of a limit comes from, in
// the order in which it is best asked. Again is what broke the promise first on one
// key, to be fired once more; nil: it is not.
func Suspect(v results.Verdict, l scenarios.Limit, again []scenarios.Phase) (s scenarios.Suspicion) {
	broken := func(check string) bool {
		return slices.ContainsFunc(v.Findings, func(f results.Finding) bool {
			return f.Check == check && f.Status == results.Broken && f.Level == results.Must
		})
	}
	refuses := broken(CheckLower) || broken(CheckWindow) || broken(CheckExact)
	if len(v.Causes) == 0 {
		switch {
		case broken(CheckUpper):
			s.Doubts = []scenarios.Doubt{scenarios.DoubtOverlap, scenarios.DoubtRouting, scenarios.DoubtCrowds, scenarios.DoubtRecurs, scenarios.DoubtMoments}
			if l.Contract == scenarios.Queue && refuses {
				s.Doubts = append(s.Doubts, scenarios.DoubtSteps)
			}
		case refuses:
			s.Doubts = []scenarios.Doubt{scenarios.DoubtRouting, scenarios.DoubtRefusals, scenarios.DoubtRecurs, scenarios.DoubtMoments}
		}
		if refuses && len(v.Resolutions) > 1 && !broken(CheckUpper) { // one for each limit
			s.Doubts = []scenarios.Doubt{scenarios.DoubtBeside, scenarios.DoubtRefusals, scenarios.DoubtRouting}
		}
		s.Again = again
		return s
	}
	if refuses && len(v.Resolutions) > 1 && !broken(CheckUpper) {
		s.Doubts = []scenarios.Doubt{scenarios.DoubtBeside, scenarios.DoubtRefusals}
		return s
	}
	contracts := 0
	for _, c := range v.Causes {
		if !strings.HasPrefix(c.ID, CauseContract) {
			continue
		}
		contracts++
		if rate, err := scenarios.ParseRate(c.Rate); err == nil {
			like := l
			like.Contract, like.Align, like.Burst, like.Rate = scenarios.Contract(c.Contract), "", c.Burst, rate
			s.Like = append(s.Like, like)
		}
	}
	switch first := v.Causes[0]; first.ID {
	case CauseRace, CauseMultiple:
		s.Doubts = []scenarios.Doubt{scenarios.DoubtOverlap, scenarios.DoubtRouting}
	case CauseOffset, CauseSize, CauseNumbers:
		if s.Doubts = []scenarios.Doubt{scenarios.DoubtOverlap}; first.Burst < l.Size() {
			s.Doubts = []scenarios.Doubt{scenarios.DoubtRouting}
		}
		if l.Contract == scenarios.Queue && refuses && !broken(CheckUpper) { // a smaller one refuses the same
			s.Doubts = append(s.Doubts, scenarios.DoubtRefusals)
		}
	case CauseFraction:
		s.Doubts = []scenarios.Doubt{scenarios.DoubtRouting}
	case CauseBlock, CauseProlong:
		s.Doubts = []scenarios.Doubt{scenarios.DoubtRefusals}
	case CauseMoment, CauseClock:
		s.Doubts, s.Span, s.Again = []scenarios.Doubt{scenarios.DoubtMoments, scenarios.DoubtRecurs}, apartAt(first.AtNS), again
		if broken(CheckUpper) {
			s.Doubts = append(s.Doubts, scenarios.DoubtCrowds)
		} else {
			s.Doubts = append(s.Doubts, scenarios.DoubtRefusals)
		}
	}
	if slices.ContainsFunc(v.Causes, func(c results.Cause) bool { return c.ID == CauseRace }) && !slices.Contains(s.Doubts, scenarios.DoubtOverlap) {
		s.Doubts = append(s.Doubts, scenarios.DoubtOverlap) // one request after the other tells a race from a larger limit
	}
	if l.Contract == scenarios.Queue && v.Causes[0].Contract == string(scenarios.Lumps) { // hardly any of which such a record shows
		s.Doubts = append(s.Doubts, scenarios.DoubtSteps)
	}
	if contracts > 0 && len(v.Causes) > 1 {
		s.Doubts = append(s.Doubts, scenarios.DoubtPeriods)
		s.Like = append(s.Like, l)
	}
	return s
}

// apartAt is the longest time between two of the moments.
func apartAt(at []int64) (longest time.Duration) {
	for i := 1; i < len(at); i++ {
		longest = max(longest, time.Duration(at[i]-at[i-1]))
	}
	return longest
}
