package defect

import (
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

func policyTold() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "policy-told",
			Settings: "quota=TOKENS,rate=TOKENS/TIME",
			Example:  "policy-told{quota=20}",
			Text:     "The header fields tell another policy than is kept: another quota, another rate, or both.",
		},
		rows:  []string{"M-policy-told"},
		on:    On{Fields: "draft"},
		stage: outside,
		apply: func(p *Parts, r *mode.Reader) error {
			var rate scenarios.Rate
			if r.Has("rate") {
				rate = r.Rate("rate")
			}
			quota := r.IntOr("quota", 0)
			r.Require(r.Has("quota") || r.Has("rate"), "quota", "give it, or a rate")
			r.Require(!r.Has("quota") || quota >= 1, "quota", "give at least 1")
			if err := r.Done(); err != nil {
				return err
			}
			p.Promised = func(l scenarios.Limit, q int64) (scenarios.Limit, int64) {
				if rate != (scenarios.Rate{}) {
					l.Rate = rate
				}
				if quota > 0 {
					q = quota
				}
				return l, q
			}
			return nil
		},
	}
}
