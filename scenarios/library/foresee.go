package library

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Foresee says, before anything is fired, what cannot be seen of a limit under
// these circumstances, and what would help; nil: an error of the wanted size will
// be seen on both sides, as far as can be said beforehand.
func Foresee(l scenarios.Limit, c Circumstances) (says []string) {
	if l.Rate.Count == 0 {
		return nil
	}
	d := newDesign(l, c)
	c = d.c
	unsharp := c.RTT + l.Slack.Quantum
	length, gap := d.polls()
	if clumps(l.Contract) && l.Rate.Tokens(unsharp) >= l.Size() {
		says = append(says, fmt.Sprintf("no refusal can be proven wrong from here: in a round trip of %v %d tokens come, and the bucket holds %d; fire from nearer the limiter, or on a key with a larger burst",
			c.RTT.Round(100*time.Microsecond), l.Rate.Tokens(unsharp), l.Size()))
	}
	slack := max(l.Slack.Over, l.Slack.Under)
	sight := func(lever time.Duration) int64 { // parts per million
		return int64(2*float64(unsharp+gap)/float64(lever)*1e6) + slack
	}
	blur := fmt.Sprintf("a round trip of %v blurs", c.RTT.Round(100*time.Microsecond))
	if d.held() {
		blur = fmt.Sprintf("a round trip of %v and polls every %v, no more than a small server bears, blur", c.RTT.Round(100*time.Microsecond), gap.Round(100*time.Microsecond))
	}
	switch {
	case l.Contract.Forgets() && sight(l.Rate.Per) > c.Wanted:
		says = append(says, fmt.Sprintf("an error in the period of %v will be seen from about %.1f %% on, and %.2g %% is asked for: %s both of its ends, and it adds up over no more than one; fire from nearer the limiter, or ask for less with --resolution",
			l.Rate.Per, float64(sight(l.Rate.Per))/10_000, float64(c.Wanted)/10_000, blur))
	case length < 2*d.token || sight(length) > c.Wanted:
		without := *d
		without.c.Budget = 0
		needed, _ := without.polls()
		seen := fmt.Sprintf("an error in the rate will be seen from about %.1f %% on, since %s each moment", float64(sight(length))/10_000, blur)
		if length < 2*d.token {
			seen = fmt.Sprintf("no more than one token comes, one in %v, and no error in the rate will be seen", d.token)
		}
		says = append(says, fmt.Sprintf("in %v %s, and %.2g %% is asked for: give the run %v with --for, or ask for less with --resolution",
			length.Round(100*time.Millisecond), seen, float64(c.Wanted)/10_000, (needed+needed/10+time.Second).Round(time.Second)))
	}
	return says
}

// clumps reports whether what is admitted in one round trip may be explained by
// decisions that were made all at once.
func clumps(c scenarios.Contract) bool {
	switch c {
	case "", scenarios.TokenBucket, scenarios.GCRA, scenarios.Nginx, scenarios.Lumps:
		return true
	}
	return false
}
