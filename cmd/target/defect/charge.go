package defect

import (
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

func charge() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "charge",
			Settings: "mult=NUMBER,every=NUMBER",
			Example:  "charge{mult=2,every=1}",
			Text:     "A request is charged mult times, or only every so many-th of all requests is.",
		},
		rows:    []string{"D27"},
		reports: []string{"laravel/framework issue 16786", "cloudcreativity/laravel-json-api issue 365", "xuqingfeng/caddy-rate-limit issue 24"},
		stage:   outside,
		apply: func(p *Parts, r *mode.Reader) error {
			mult, every, most := r.IntOr("mult", 2), r.IntOr("every", 1), most(p.Algorithm)
			r.Require(mult >= 2 && mult <= most, "mult", fmt.Sprintf("give 2 to %d, which is what a key has at most", most))
			r.Require(every >= 1, "every", "give at least 1")
			if err := r.Done(); err != nil {
				return err
			}
			var asked atomic.Int64
			p.asks(func(_ *http.Request, a *store.Ask) bool {
				// What can never be had stays the caller's mistake, and what could is not
				// made into one.
				if asked.Add(1)%every == 0 && a.Cost >= 1 && a.Cost <= most {
					a.Cost = min(a.Cost, most/mult) * mult
				}
				return true
			})
			return nil
		},
	}
}
