package defect

import (
	"net/http"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

func costIgnored() kind {
	return kind{
		Doc: mode.Doc{
			Name:    "cost-ignored",
			Example: "cost-ignored",
			Text:    "Every request is charged one token, whatever it costs.",
		},
		rows:  []string{"M-cost-ignored"},
		on:    On{CostHeader: "X-Cost"},
		stage: outside,
		apply: func(p *Parts, r *mode.Reader) error {
			p.asks(func(_ *http.Request, a *store.Ask) bool {
				a.Cost = 1
				return true
			})
			return r.Done()
		},
	}
}
