package library

import "github.com/ratehammer/ratehammer/scenarios"

// methods is only asked where it was declared: a limit for each method is one.
func methods() Trap {
	return Trap{
		Name: "methods", Says: "one path by several methods: they share a budget",
		Finds: []Kind{PerMethod}, Keys: 1, Asks: identified,
		unfit:  undeclared(byMethod, "--same method:GET,HEAD"),
		called: calls(byMethod),
		phases: func(d *design) track { return d.varied("method", d.declared(byMethod)) },
	}
}

func byMethod(v scenarios.Vary) bool { return v.Part == scenarios.PartMethod }
