package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func below() Trap {
	return Trap{
		Name: "below", Says: "a drained key asked at 96 % of the rate: nothing is refused",
		Finds: []Kind{TooStrict}, Keys: 1, Asks: hasRate, Regular: true,
		phases: func(d *design) track { return d.paced("before-below", "below", 24, 25) },
	}
}

func above() Trap {
	return Trap{
		Name: "above", Says: "a drained key asked at 108 % of the rate: some of it is refused",
		Finds: []Kind{TooLax}, Keys: 1, Asks: hasRate, Regular: true,
		phases: func(d *design) track { return d.paced("before-above", "above", 27, 25) },
	}
}

// paced drains a key and then sends at num/den of the rate.
func (d *design) paced(drained, name string, num, den int64) track {
	pace := d.limit.Rate.Times(num, den)
	n := int(min(max(d.limit.Rate.Tokens(4*time.Second), 6), 200))
	return track{
		length: d.after() + d.token + pace.Time(int64(n)),
		phases: []scenarios.Phase{
			{Name: drained, Volley: d.drain(), Keys: scenarios.Keys{Fresh: 1}},
			{Name: name, Rest: d.after() + d.token, Pace: pace, Count: n, Keys: scenarios.Keys{Of: drained}},
		},
	}
}
