package defect

import (
	"fmt"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func weighted() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "weighted",
			Settings: "arith=float|int",
			Example:  "weighted{arith=float}",
			Text:     "A sliding log is promised, and two counters estimate it, as if what the previous window held were spread evenly; with arith=int its share is rounded down as well.",
		},
		rows:    []string{"D03"},
		stage:   rebuilds,
		on:      On{Limit: "sliding-log{rate=10/10s}"},
		reports: []string{"ELares/IronTraffic issue 212", "RussellLuo/slidingwindow issue 5", "tempesta-tech/xFW PR 79"},
		apply: func(p *Parts, r *mode.Reader) error {
			arith := r.Choice("arith", "float", "float", "int")
			if err := r.Done(); err != nil {
				return err
			}
			l, ok := p.Algorithm.(*limiter.SlidingLog)
			if !ok {
				return fmt.Errorf("weighted: is a defect of sliding logs, such as sliding-log{rate=10/10s}")
			}
			// floor(share) + cur + 1 <= N in whole numbers is share + cur < N.
			test := map[string]limiter.Test{"float": limiter.AtMost, "int": limiter.Below}[arith]
			c, err := limiter.NewSlidingCounter(l.Promise().Rate, test, limiter.Epoch)
			if err != nil {
				return fmt.Errorf("weighted: %w", err)
			}
			p.pose(c)
			return nil
		},
	}
}
