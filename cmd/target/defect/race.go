package defect

import (
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func race() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "race",
			Settings: "gap=DURATION",
			Example:  "race{gap=1ms}",
			Text:     "The state of a key is read, decided on and written in steps of their own, with so much time between them: of requests at once several see the same tokens. Over Redis by GET and SET, where the way there and back is a gap by itself.",
		},
		rows:    []string{"D20"},
		on:      On{Limit: "token-bucket{burst=10,rate=1/1s}"},
		reports: []string{"encode/django-rest-framework issue 5494", "pgjones/quart-rate-limiter issue 18", "TerminalWitchcraft/actix-ratelimit issue 16", "langgenius/dify issue 39177", "JhaSourav07/commitpulse issue 5894"},
		stage:   outside,
		apply: func(p *Parts, r *mode.Reader) error {
			gap := r.DurationOr("gap", 0)
			r.Require(gap >= 0 && gap <= time.Minute, "gap", "give 0s to 1m")
			if err := r.Done(); err != nil {
				return err
			}
			p.Torn, p.Gap = true, gap
			return nil
		},
	}
}
