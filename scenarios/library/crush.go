package library

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Of a crush: how many are refused in each of its volleys, and how many volleys
// there are.
const (
	crushSize    = 30
	leastCrushes = 3
	mostCrushes  = 12
)

// crush fires volleys at a key that has next to nothing. Where a refusal takes a
// token and gives it back, those that overlap may give back less than they took:
// a limiter that is polled one request at a time, or asked once for all it has,
// never shows that.
func crush() Trap {
	return Trap{
		Name: "crush", Says: "volleys on a drained key: what is refused at once costs nothing, and what came meanwhile is admitted",
		Finds: []Kind{CostlyCrowd, CostlyRefusal}, Keys: 1, Asks: hasRate, Regular: true,
		phases: func(d *design) track { return d.crushed("crush", crushSize) },
	}
}

// throng is a crush of volleys as large as leave at once, for what happens when
// two of a thousand refusals meet within less than a microsecond.
func throng() Trap {
	return Trap{
		Name: "throng", Says: "the largest volleys on a drained key: what is refused at once costs nothing, also where it seldom does",
		Finds: []Kind{RareCrowd, CostlyCrowd}, Keys: 1, Asks: hasRate,
		phases: func(d *design) track { return d.crushed("throng", scenarios.VolleySize) },
	}
}

// crushed drains a key and fires volleys at it of which so many are to be refused.
// From one to the next come one and a half tokens, so that one that was lost is
// missing in the next volley or the one behind it.
func (d *design) crushed(name string, refused int) (t track) {
	drained := "before-" + name
	t.phases = []scenarios.Phase{{Name: drained, Volley: d.drain(), Keys: scenarios.Keys{Fresh: 1}}}
	every := max(d.token*3/2, 20*time.Millisecond+d.c.RTT+time.Duration(refused)*scenarios.RequestTime)
	size := refused + int(min(d.limit.Rate.Tokens(2*every)+1, d.size, 1000))
	at := d.after()
	for i := range d.crushes(every) {
		t.phases = append(t.phases, scenarios.Phase{Name: fmt.Sprintf("%s-%d", name, i+1), Rest: at, Volley: size, Keys: scenarios.Keys{Of: drained}})
		t.length = at + d.c.RTT
		at += every
	}
	return t
}

// crushes is how many volleys there is time for while the pressure lasts.
func (d *design) crushes(every time.Duration) int {
	length, _ := d.polls()
	return int(min(max(length/every, leastCrushes), mostCrushes))
}
