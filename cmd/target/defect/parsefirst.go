package defect

import (
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func parseFirst() kind {
	return kind{
		Doc: mode.Doc{
			Name:    "parse-first",
			Example: "parse-first",
			Text:    "The body is parsed before the limit is asked, and a request that fails there is not counted though it is said to be: a free flood of bad JSON.",
		},
		rows:    []string{"D37"},
		on:      On{Mode: "order{early=counted}"},
		reports: []string{"SecureBananaLabs/bug-bounty issue 4095"},
		stage:   outside,
		apply: func(p *Parts, r *mode.Reader) error {
			p.ParseFirst = true
			return r.Done()
		},
	}
}
