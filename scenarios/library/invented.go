package library

import (
	"slices"
	"strings"

	"github.com/ratehammer/ratehammer/scenarios"
)

func invented() Trap {
	return Trap{
		Name: "invented", Says: "another code, cookie or header in each request of a client, made up: none brings a budget of its own",
		Finds: []Kind{Invented}, Keys: 1, Asks: identified,
		unfit:  undeclared(inventable, "--same query:code, --same path:/verify/{n}, or --identity for all that can be guessed"),
		called: calls(inventable),
		phases: func(d *design) track { return d.varied("invented", d.declared(inventable)) },
	}
}

// inventable is what has no end of values.
func inventable(v scenarios.Vary) bool {
	switch v.Part {
	case scenarios.PartQuery, scenarios.PartCookie:
		return true
	case scenarios.PartHeader:
		return !forwarding(v)
	case scenarios.PartPath:
		return slices.ContainsFunc(v.Values, func(s string) bool { return strings.Contains(s, "{n}") })
	}
	return false
}
