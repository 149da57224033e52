package defect

import (
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

func reset() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "reset",
			Settings: "form=epoch|seconds|zero",
			Example:  "reset{form=epoch}",
			Text:     "Reset is a moment since 1970 where the fields are said to count seconds (epoch), seconds where they are said to tell a moment (seconds), or now (zero).",
		},
		rows:    []string{"M-reset"},
		on:      On{Fields: "ratelimit"},
		reports: []string{"octokit/plugin-throttling.js issue 599", "alisaifee/flask-limiter PR 56"},
		stage:   outside,
		apply: func(p *Parts, r *mode.Reader) error {
			form := r.Choice("form", "", "epoch", "seconds", "zero")
			if err := r.Done(); err != nil {
				return err
			}
			p.tells(func(_ store.Ask, wall int64, d limiter.Decision) limiter.Decision {
				switch {
				case d.Reset == limiter.Unknown:
				case form == "epoch":
					d.Reset += time.Duration(wall)
				case form == "seconds": // which the fields add the moment to
					d.Reset -= time.Duration(wall)
				default:
					d.Reset = 0
				}
				return d
			})
			return nil
		},
	}
}
