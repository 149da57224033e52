package defect

import (
	"net/http"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

func connBucket() kind {
	return kind{
		Doc: mode.Doc{
			Name:    "conn-bucket",
			Example: "conn-bucket",
			Text:    "The budget belongs to the connection and not to the client: who opens many has as many budgets, and all who share one have one together. On a unix socket, where connections have no addresses, all are one.",
		},
		rows:    []string{"D59"},
		reports: []string{"pymumu/smartdns issue 2457"},
		stage:   outside,
		apply: func(p *Parts, r *mode.Reader) error {
			p.asks(func(r *http.Request, a *store.Ask) bool {
				a.Key = r.RemoteAddr
				return true
			})
			return r.Done()
		},
	}
}
