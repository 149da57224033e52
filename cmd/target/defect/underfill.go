package defect

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func underfill() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "underfill",
			Settings: "eff=SHARE,form=late|lost,tick=DURATION",
			Example:  "underfill{eff=0.65}",
			Text:     "A timer refills, and only the share eff of the promised rate arrives: because it fires late (form=late), or because a part of what it brings is lost (form=lost).",
		},
		rows:    []string{"D12"},
		stage:   rebuilds,
		reports: []string{"envoyproxy/envoy issue 24282", "envoyproxy/envoy issue 16407", "cadence-workflow/cadence PR 6030", "apache/pulsar PR 23930"},
		apply: func(p *Parts, r *mode.Reader) error {
			eff, tick := r.Share("eff"), r.DurationOr("tick", 10*time.Millisecond)
			form := r.Choice("form", "late", "late", "lost")
			r.Require(eff > 0 && eff < 1_000_000, "eff", "give a share above 0 and below 1")
			r.Require(tick >= time.Microsecond && tick <= time.Hour, "tick", "give 1us to 1h")
			if err := r.Done(); err != nil {
				return err
			}
			b, err := bucketOf("underfill", p.Algorithm)
			if err != nil {
				return err
			}
			gain := b.gain(tick)
			if gain == b.full {
				return fmt.Errorf("underfill: tick: %v fills the whole bucket; write for example underfill{eff=0.65,tick=1ms}", tick)
			}
			if form == "lost" {
				gain = share(gain, eff)
			} else {
				tick = tick/time.Duration(eff)*1_000_000 + tick%time.Duration(eff)*1_000_000/time.Duration(eff)
			}
			p.Algorithm = ticked{around{p.Algorithm}, b, int64(tick), gain}
			return nil
		},
	}
}

// share is so many millionths of a level, rounded down.
func share(level, ppm int64) int64 {
	hi, lo := bits.Mul64(uint64(level), uint64(ppm))
	part, _ := bits.Div64(hi, lo, 1_000_000)
	return int64(part)
}
