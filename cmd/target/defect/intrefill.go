package defect

import (
	"math/bits"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func intRefill() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "int-refill",
			Settings: "tick=DURATION,form=zero|one",
			Example:  "int-refill{tick=1s}",
			Text:     "Each tick brings a whole number of tokens, rounded down: nothing at all at a slow rate (form=zero), or never less than one (form=one).",
		},
		rows:    []string{"D08"},
		stage:   rebuilds,
		on:      On{Limit: "token-bucket{burst=10,rate=6/m}"},
		reports: []string{"firecracker PR 3370", "TykTechnologies/tyk issue 1287"},
		apply: func(p *Parts, r *mode.Reader) error {
			tick := r.DurationOr("tick", time.Second)
			form := r.Choice("form", "zero", "zero", "one")
			r.Require(tick > 0 && tick <= maxStep, "tick", "give more than 0 and at most a year")
			if err := r.Done(); err != nil {
				return err
			}
			b, err := bucketOf("int-refill", p.Algorithm)
			if err != nil {
				return err
			}
			tokens := b.gain(tick) / b.unit
			if form == "one" {
				tokens = max(1, tokens)
			}
			p.Algorithm = ticked{around{p.Algorithm}, b, int64(tick), tokens * b.unit}
			return nil
		},
	}
}

// gain is what a time brings, at most a full bucket.
func (b bucket) gain(t time.Duration) int64 {
	if hi, units := bits.Mul64(uint64(t), uint64(b.num)); hi == 0 && units < uint64(b.full) {
		return int64(units)
	}
	return b.full
}
