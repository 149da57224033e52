package library

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// grid asks for the same, at the same pace, over one connection, over five and over
// forty, one request at a time: what is admitted does not depend on it. The other
// half of the grid, as many in flight as there are connections, is the volley.
func grid() Trap {
	return Trap{
		Name: "grid", Says: "the same requests over one connection, over five and over forty: as many are admitted",
		Finds: []Kind{PerConnection}, Keys: 1,
		Asks:   func(l scenarios.Limit) bool { return identified(l) && hasRate(l) },
		unfit:  func(d *design) string { return d.tooFast(d.connected()) },
		called: calls(func(v scenarios.Vary) bool { return v.Part == scenarios.PartConnection }),
		phases: func(d *design) (t track) {
			for _, n := range []int{1, 5, 40} {
				one := d.sequence(fmt.Sprintf("grid-%d", n), 1, d.size+3, d.connected(), false)
				p := one.phases[0]
				p.Vary = scenarios.Vary{Part: scenarios.PartConnection, Connections: n}
				p.Rest = t.length
				t.phases = append(t.phases, p)
				t.length += one.length + 50*time.Millisecond
				if d.c.Keys > 0 {
					t.length = longer(t.length, d.fill+d.fill/20)
				}
			}
			return t
		},
	}
}
