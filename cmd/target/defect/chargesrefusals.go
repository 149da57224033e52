package defect

import (
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func chargesRefusals() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "charges-refusals",
			Settings: "form=drain|debt",
			Example:  "charges-refusals{form=debt}",
			Text:     "A refused request is charged as an admitted one: down to an empty bucket (drain), or further and further below it (debt).",
		},
		rows:  []string{"M-charges-refusals"},
		stage: wraps,
		apply: func(p *Parts, r *mode.Reader) error {
			form := r.Choice("form", "drain", "drain", "debt")
			if err := r.Done(); err != nil {
				return err
			}
			b, err := bucketOf("charges-refusals", p.Algorithm)
			if err != nil {
				return err
			}
			least := int64(0)
			if form == "debt" {
				least = -limiter.MaxLevel
			}
			p.Algorithm = charging{around{p.Algorithm}, b, least}
			return nil
		},
	}
}

// charging is a token bucket that takes tokens for refusals too. It tells the
// true wait of who does not ask again.
type charging struct {
	around
	bucket
	least int64 // units: the level that refusals do not go below
}

func (c charging) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	d, err := c.Algorithm.Decide(s, now, cost)
	if err != nil || d.Admitted {
		return d, err
	}
	k := s.(*limiter.Bucket)
	if need := cost * c.unit; k.Level-need >= c.least { // at most two full buckets below 0 fit in 64 bits
		k.Level -= need
	} else {
		k.Level = min(k.Level, c.least)
	}
	// What the next one would meet, who does not spend anything by asking.
	next, err := c.Algorithm.Decide(k.Clone(), now, cost)
	next.Before = d.Before
	return next, err
}
