package library

import (
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// twinned tells whether what the large limit refuses costs the small one: keys spend all
// of the large limit as fast as the small one lets them. On some of them a volley is
// refused by the large limit then, on others not, and all are asked for what the small
// one has when the large one has something again.
func twinned(l scenarios.Limit, c Circumstances) (all []experiment) {
	if !hasRate(l) {
		return nil
	}
	limits := append([]scenarios.Limit{l}, c.Beside...)
	for _, large := range limits {
		for _, small := range limits {
			if hasRate(large) && hasRate(small) && small.Fill() < large.Fill() {
				all = append(all, twin(large, small))
			}
		}
	}
	return all
}

func twin(large, small scenarios.Limit) experiment {
	as := func(d *design) *design { return newDesign(large, d.c) }
	return experiment{decides: []scenarios.Doubt{scenarios.DoubtBeside}, Trap: Trap{
		Name: "twins beside " + small.Name, Says: "keys that spend all of the large limit, asked again when it has something: with and without refusals before",
		Keys: 2, Asks: hasRate,
		unfit: func(d *design) string {
			if d.c.Keys > 0 {
				return "keys: it takes any number of them"
			}
			return smaller(small).unfit(as(d))
		},
		phases: func(d *design) (t track) {
			for _, arm := range []string{scenarios.TwinSpared, scenarios.TwinRefused} {
				one := smaller(small).phases(as(d))
				t.length = max(t.length, one.length)
				for i, p := range one.phases {
					if i == len(one.phases)-2 && arm == scenarios.TwinSpared {
						continue // the volley that the large one refuses
					}
					if i < len(one.phases)-2 { // and the small one nothing
						p.Volley = int(small.Size())
					}
					p.Name = arm + p.Name
					if i == 0 {
						p.Name = arm + small.Name
					} else {
						p.Keys = scenarios.Keys{Of: arm + small.Name}
					}
					t.phases = append(t.phases, p)
				}
			}
			t.length += 50 * time.Millisecond
			return t
		},
	}}
}
