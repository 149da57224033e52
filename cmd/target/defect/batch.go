package defect

import (
	"net/http"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

func batch() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "batch",
			Settings: "charge=TOKENS",
			Example:  "batch{charge=1}",
			Text:     "A request that carries many operations is charged for so many of them at most.",
		},
		rows:    []string{"D58"},
		on:      On{CostBody: "array"},
		reports: []string{"teamplanes/graphql-rate-limit PR 96", "terra-money/hive-graph issue 25"},
		stage:   outside,
		apply: func(p *Parts, r *mode.Reader) error {
			charge := r.IntOr("charge", 1)
			r.Require(charge >= 1, "charge", "give at least 1")
			if err := r.Done(); err != nil {
				return err
			}
			p.asks(func(_ *http.Request, a *store.Ask) bool {
				a.Cost = min(a.Cost, charge)
				return true
			})
			return nil
		},
	}
}
