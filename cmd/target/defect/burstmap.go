package defect

import (
	"fmt"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func burstMap() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "burst-map",
			Settings: "form=plus1|times5|none",
			Example:  "burst-map{form=plus1}",
			Text:     "The number at once is not what was promised: one more (plus1), five times as much and one more (times5), or a single one (none); the rate is right.",
		},
		rows:    []string{"D05"},
		stage:   rebuilds,
		reports: []string{"brandur/redis-cell issue 56", "traefik/traefik issue 8330"},
		apply: func(p *Parts, r *mode.Reader) error {
			form := r.Choice("form", "", "plus1", "times5", "none")
			if err := r.Done(); err != nil {
				return err
			}
			promise := p.Algorithm.Promise()
			if has, _ := promise.Contract.Numbers(); !has.Burst || !has.Rate {
				return fmt.Errorf("burst-map: a %s limit has no burst beside a rate", promise.Contract)
			}
			delta := map[string]int64{"plus1": 1, "times5": 4*promise.Burst + 1, "none": 1 - promise.Burst}[form]
			if delta == 0 {
				return fmt.Errorf("burst-map: form: a burst of 1 cannot be lost; write for example burst-map{form=plus1}")
			}
			room, err := resize(p.Algorithm, delta)
			if err != nil {
				return fmt.Errorf("burst-map: %w", err)
			}
			p.Algorithm = mislabelled{Algorithm: room, promise: promise, delta: delta}
			return nil
		},
	}
}
