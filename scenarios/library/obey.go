package library

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// obey drains keys and asks on each once more, at another part of the time a
// token takes, then as Retry-After says.
func obey() Trap {
	return Trap{
		Name: "obey", Says: "a refused request comes back as Retry-After says, neither earlier nor later, and is admitted",
		Finds: []Kind{WrongWait}, Keys: 1, Asks: hasRate, Regular: true,
		phases: func(d *design) (t track) {
			n := d.share(5)
			for i := range n {
				drained, name := fmt.Sprintf("before-obey-%d", i+1), fmt.Sprintf("obey-%d", i+1)
				start := time.Duration(i) * (40*time.Millisecond + time.Duration(d.drain())*scenarios.RequestTime)
				if d.c.Keys > 0 {
					start = 0
				}
				ask := start + d.after() + d.token*time.Duration(2*i+1)/time.Duration(2*n)
				t.phases = append(t.phases,
					scenarios.Phase{Name: drained, Rest: start, Volley: d.drain(), Keys: scenarios.Keys{Fresh: 1}},
					scenarios.Phase{Name: name, Rest: ask, Pace: d.limit.Rate, Count: 1, Retry: scenarios.RetryObey, Keys: scenarios.Keys{Of: drained}})
				t.length = max(t.length, ask+d.limit.Longest()+2*time.Second)
			}
			if d.c.Keys > 0 { // each pair of phases counts its own time
				t.length *= time.Duration(n)
			}
			return t
		},
	}
}
