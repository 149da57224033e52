package library

import (
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// A server that is busy answers late, and must not be asked for more because of
// it: neither in all nor in any second.
func TestSlowAnswersAreNoReasonToFireMore(t *testing.T) {
	for _, l := range []scenarios.Limit{
		{Contract: scenarios.FixedWindow, Rate: scenarios.Rate{Count: 10, Per: 2 * time.Second}, Slack: scenarios.DefaultSlack()},
		{Contract: scenarios.FixedWindow, Rate: scenarios.Rate{Count: 5, Per: 200 * time.Millisecond}, Slack: scenarios.DefaultSlack()},
		{Contract: scenarios.SlidingLog, Rate: scenarios.Rate{Count: 100, Per: time.Minute}, Slack: scenarios.DefaultSlack()},
		{Burst: 10, Rate: scenarios.Rate{Count: 5, Per: time.Second}, Slack: scenarios.DefaultSlack()},
		{Burst: 100, Rate: scenarios.Rate{Count: 1000, Per: time.Second}, Slack: scenarios.DefaultSlack()},
		{Burst: 1, Contract: scenarios.Nginx, Rate: scenarios.Rate{Count: 5, Per: time.Second}, Slack: scenarios.DefaultSlack()},
	} {
		polls := func(rtt time.Duration) (all int, perSecond float64) {
			d := newDesign(l, Circumstances{RTT: rtt})
			track := pressure().phases(d)
			p := track.phases[1]
			keys := track.phases[0].Keys.Fresh
			return keys * p.Count, float64(keys) * p.Pace.PerSecond()
		}
		least, _ := polls(time.Millisecond)
		for _, rtt := range []time.Duration{200 * time.Microsecond, 3 * time.Millisecond, 7 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond} {
			all, perSecond := polls(rtt)
			// A limit that admits more than that has to be asked for half as much again, on each key.
			if most := max(520, 1.6*3*l.Rate.PerSecond()); perSecond > most {
				t.Errorf("%v from %v away: %.0f polls a second, want at most %.0f", l, rtt, perSecond, most)
			}
			if flight := perSecond * rtt.Seconds(); flight > underWay*1.05 && perSecond > 1.6*3*l.Rate.PerSecond() {
				t.Errorf("%v from %v away: %.1f polls under way at the same time", l, rtt, flight)
			}
			// Nor does a run of the same length come to many more: what is far away is polled on more keys.
			if length, _ := newDesign(l, Circumstances{RTT: rtt}).polls(); all > 3*least && float64(all) > max(300, 1.6*l.Rate.PerSecond())*length.Seconds() {
				t.Errorf("%v: %d polls from %v away, and %d from 1 ms", l, all, rtt, least)
			}
		}
	}
}
