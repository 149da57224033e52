package defect

import (
	"fmt"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

func fixedWindow() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "window",
			Settings: "align=epoch|start|first-hit",
			Example:  "window{align=epoch}",
			Text:     "What is promised at once is counted in fixed windows of the same mean rate, so twice as much passes around an edge.",
		},
		rows:    []string{"D01"},
		stage:   rebuilds,
		on:      On{Limit: "token-bucket{burst=10,rate=10/10s}"},
		reports: []string{"plausible/analytics PR 6497", "candelahq/candela issue 574", "Benson-Kim/genesis-sacco-platform issue 14", "block/buzz PR 3477", "express-rate-limit issue 207"},
		apply: func(p *Parts, r *mode.Reader) error {
			align := r.Choice("align", "epoch", "epoch", "start", "first-hit")
			if err := r.Done(); err != nil {
				return err
			}
			promise := p.Algorithm.Promise()
			switch p.Algorithm.(type) {
			case *limiter.TokenBucket, *limiter.Meter, *limiter.GCRA, *limiter.SlidingLog, *limiter.SlidingCounter:
			default:
				return fmt.Errorf("window: is a defect of buckets, sliding logs and sliding counters, and none decides for this %s limit", promise.Contract)
			}
			rate := scenarios.Rate{Count: promise.Size(), Per: window(promise)}
			w, err := limiter.NewFixedWindow(rate, limiter.Align(align))
			if err != nil {
				return fmt.Errorf("window: %w", err)
			}
			p.pose(w)
			return nil
		},
	}
}
