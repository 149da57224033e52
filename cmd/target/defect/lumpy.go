package defect

import (
	"fmt"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

func lumpy() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "lumpy",
			Settings: "lump=TOKENS,align=epoch|start|first-hit",
			Example:  "lumpy{lump=5}",
			Text:     "A refill that is promised to be continuous comes so many tokens at a time, in the time that they take.",
		},
		rows:  []string{"M-lumpy"},
		stage: rebuilds,
		on:    On{Limit: "token-bucket{burst=10,rate=5/s}"},
		apply: func(p *Parts, r *mode.Reader) error {
			lump, align := r.Int("lump"), r.Choice("align", "epoch", "epoch", "start", "first-hit")
			r.Require(lump > 0, "lump", "give at least 1")
			if err := r.Done(); err != nil {
				return err
			}
			promise := p.Algorithm.Promise()
			switch p.Algorithm.(type) {
			case *limiter.TokenBucket, *limiter.Meter, *limiter.GCRA:
			default:
				return fmt.Errorf("lumpy: is a defect of buckets that refill continuously, and none decides for this %s limit", promise.Contract)
			}
			l, err := limiter.NewLumps(promise.Burst, scenarios.Rate{Count: lump, Per: promise.Rate.Time(lump)}, limiter.Align(align))
			if err != nil {
				return fmt.Errorf("lumpy: %w", err)
			}
			p.pose(l)
			return nil
		},
	}
}
