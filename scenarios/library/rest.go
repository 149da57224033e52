package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func rest() Trap {
	return Trap{
		Name: "rest", Says: "a drained key left alone for half the time in which all comes back: what is due by then is there",
		Finds: []Kind{StaleRefill}, Keys: 1, Asks: hasRate, Regular: true,
		phases: func(d *design) track { return d.rested("spend", "rested", d.after()+d.fill/2) },
	}
}

// rested drains a key, leaves it alone, and asks for all it has.
func (d *design) rested(drained, name string, at time.Duration) track {
	return track{
		length: at + 100*time.Millisecond,
		phases: []scenarios.Phase{
			{Name: drained, Volley: d.drain(), Keys: scenarios.Keys{Fresh: 1}},
			{Name: name, Rest: at, Volley: d.over(), Keys: scenarios.Keys{Of: drained}},
		},
	}
}
