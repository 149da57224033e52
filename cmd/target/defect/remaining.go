package defect

import (
	"sync"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/cmd/target/store"
)

// maxTold bounds what is remembered of what keys were told.
const maxTold = 1 << 16

func remaining() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "remaining",
			Settings: "form=stale|neg|burst-only|random",
			Example:  "remaining{form=stale}",
			Text:     "The remaining tokens that are told are those of the request before (stale), go below 0 with every refusal (neg), are always the whole burst (burst-only), or any number up to it (random).",
		},
		rows:    []string{"D46"},
		on:      On{Fields: "x-ratelimit"},
		reports: []string{"Kong/kong issue 11846", "bucket4j/bucket4j issue 545"},
		stage:   outside,
		apply: func(p *Parts, r *mode.Reader) error {
			form := r.Choice("form", "", "stale", "neg", "burst-only", "random")
			if err := r.Done(); err != nil {
				return err
			}
			p.tells(p.remainingForm(form))
			return nil
		},
	}
}

func (p *Parts) remainingForm(form string) func(store.Ask, int64, limiter.Decision) limiter.Decision {
	switch form {
	case "stale":
		told := lately{of: map[string]int64{}}
		return func(a store.Ask, _ int64, d limiter.Decision) limiter.Decision {
			d.Remaining = told.swap(a.Key, d.Limit, func(int64) int64 { return d.Remaining })
			return d
		}
	case "neg":
		owed := lately{of: map[string]int64{}}
		return func(a store.Ask, _ int64, d limiter.Decision) limiter.Decision {
			before := owed.swap(a.Key, 0, func(before int64) int64 {
				if d.Admitted {
					return 0
				}
				return before + a.Cost
			})
			if !d.Admitted {
				d.Remaining -= before + a.Cost
			}
			return d
		}
	case "burst-only":
		return func(_ store.Ask, _ int64, d limiter.Decision) limiter.Decision {
			d.Remaining = d.Limit
			return d
		}
	default: // random
		chance := p.chance("remaining")
		return func(_ store.Ask, _ int64, d limiter.Decision) limiter.Decision {
			d.Remaining = int64(chance() * float64(d.Limit+1))
			return d
		}
	}
}

// lately remembers a number of each key.
type lately struct {
	mu sync.Mutex
	of map[string]int64
}

// swap replaces the number of a key, and gives the one before, or if there is
// none the first.
func (l *lately) swap(key string, first int64, next func(before int64) int64) (before int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, known := l.of[key]
	if !known {
		if before = first; len(l.of) >= maxTold {
			clear(l.of)
		}
	}
	l.of[key] = next(before)
	return before
}
