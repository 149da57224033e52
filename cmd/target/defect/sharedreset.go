package defect

import (
	"fmt"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func sharedReset() kind {
	return kind{
		Doc: mode.Doc{
			Name:    "shared-reset",
			Example: "shared-reset",
			Text:    "One timer empties the counters of all keys at once, where each key's window, or the time to its first lump, is to begin with its own first request.",
		},
		rows:    []string{"D02"},
		stage:   rebuilds,
		on:      On{Limit: "fixed-window{rate=10/10s,align=first-hit}"},
		reports: []string{"express-rate-limit issue 194", "express-rate-limit issue 93"},
		apply: func(p *Parts, r *mode.Reader) error {
			if err := r.Done(); err != nil {
				return err
			}
			shared, err := onOneTimer(p.Algorithm)
			if err != nil {
				return fmt.Errorf("shared-reset: %w", err)
			}
			p.pose(shared)
			return nil
		},
	}
}

// onOneTimer is the same algorithm with the same periods for all keys.
func onOneTimer(a limiter.Algorithm) (limiter.Algorithm, error) {
	p := a.Promise()
	switch a := a.(type) {
	case *limiter.FixedWindow:
		if a.Grid().Align == limiter.FirstHit {
			return limiter.NewFixedWindow(p.Rate, limiter.Start)
		}
	case *limiter.Lumps:
		if a.Grid().Align == limiter.FirstHit {
			return limiter.NewLumps(p.Burst, p.Rate, limiter.Start)
		}
	}
	return nil, fmt.Errorf("is a defect of fixed windows and lumps that each key begins itself; choose one with align=first-hit")
}
