package defect

import (
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func multi() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "multi",
			Settings: "atomic=false",
			Example:  "multi{atomic=false}",
			Text:     "Of several limits that are asked together each is charged by itself, also for requests that another one refuses.",
		},
		rows:    []string{"D34"},
		on:      On{Limit: "fixed-window{rate=5/1s,align=first-hit}", Beside: "fixed-window{rate=20/30s,align=first-hit}"},
		reports: []string{"ravangen/graphql-rate-limit issue 129", "envoyproxy/ratelimit issue 190", "golang/go issue 56924"},
		stage:   outside,
		apply: func(p *Parts, r *mode.Reader) error {
			atomic := r.Bool("atomic")
			r.Require(!atomic, "atomic", "true is no defect, give false")
			if err := r.Done(); err != nil {
				return err
			}
			p.Apart = true
			return nil
		},
	}
}
