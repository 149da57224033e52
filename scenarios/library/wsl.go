package library

import (
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// wsl is what a machine under WSL2 did, whose wall clock its host set back every half
// minute: six players of a game, all within their limits, were locked out each time.
func wsl(by, every time.Duration) Disturbance {
	return Disturbance{
		Name: "wsl", Says: "the wall clock steps back by 6 s every 30 s, while six clients stay inside their limits", OfClock: true,
		actions: func(d *design) ([]scenarios.Action, time.Duration) {
			return []scenarios.Action{{Act: scenarios.ClockStep, By: -by, Every: every, Times: 2}}, min(by, 10*time.Second) + d.watch()
		},
	}
}

// parseWSL reads wsl=-6s/30s.
func parseWSL(text string) (d Disturbance, ok bool) {
	numbers, named := strings.CutPrefix(text, "wsl=")
	by, every, both := strings.Cut(numbers, "/")
	b, err1 := time.ParseDuration(by)
	e, err2 := time.ParseDuration(every)
	if !named || !both || err1 != nil || err2 != nil || b == 0 || e < time.Second {
		return d, false
	}
	return wsl(b.Abs(), e), true
}
