package library

import "github.com/ratehammer/ratehammer/scenarios"

// spellings is only asked of paths that were declared to be one: most limiters
// that count by path are right to.
func spellings() Trap {
	return Trap{
		Name: "spellings", Says: "one path in several spellings: they share a budget",
		Finds: []Kind{Spelling}, Keys: 1, Asks: identified,
		unfit:  undeclared(spelt, "--same path:/v1/a,/v1/a/,/v1//a"),
		called: calls(spelt),
		phases: func(d *design) track { return d.varied("spelling", d.declared(spelt)) },
	}
}

func spelt(v scenarios.Vary) bool { return v.Part == scenarios.PartPath && !inventable(v) }
