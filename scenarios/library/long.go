package library

// long is for errors that add up. It polls a quarter as often, so that it costs
// no more requests; where nothing adds up beyond a period it polls as often.
func long() Trap {
	const times = 4
	return Trap{
		Name: "long", Says: "the same pressure four times as long: an error of a quarter of what is asked for adds up",
		Finds: []Kind{Drift, WrongRate}, Keys: 1, Asks: hasRate,
		phases: func(d *design) track {
			t := d.press("drain-long", "long")
			t.length *= times
			if polled := &t.phases[1]; d.limit.Contract.Forgets() {
				polled.Count *= times
			} else {
				polled.Pace.Per *= times
			}
			return t
		},
	}
}
