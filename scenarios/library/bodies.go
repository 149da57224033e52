package library

import (
	"net/http"

	"github.com/ratehammer/ratehammer/scenarios"
)

// bodies is only asked where it was declared that requests are counted whatever
// their body, and that the answer to one that is not understood tells that it was
// counted: a server that turns such requests away first, without counting them, may
// be right to.
func bodies() Trap {
	return Trap{
		Name: "bodies", Says: "requests whose body was declared to make no difference, such as one that is not understood: they are counted like all others",
		Finds: []Kind{Uncounted}, Keys: 1, Asks: identified,
		unfit: func(d *design) string {
			if why := undeclared(byBody, "--same 'body:{' --admitted 200-399,400 where what is not understood is counted")(d); why != "" {
				return why
			}
			if !d.limit.Answers.Admitted.Covers(http.StatusBadRequest, nil) && !d.limit.Answers.Admitted.Covers(http.StatusUnprocessableEntity, nil) {
				return "a word that what is not understood was counted (--admitted 200-399,400)"
			}
			return ""
		},
		called: calls(byBody),
		phases: func(d *design) track { return d.varied("body", d.declared(byBody)) },
	}
}

func byBody(v scenarios.Vary) bool { return v.Part == scenarios.PartBody }
