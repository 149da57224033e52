package defect

import (
	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func roundUp() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "round-up",
			Settings: "ppm=MILLIONTHS",
			Example:  "round-up{ppm=20000}",
			Text:     "Each credit is rounded up, by so many millionths of it, so what is too much adds up with time.",
		},
		rows:    []string{"D09"},
		stage:   wraps,
		on:      On{Limit: "token-bucket{burst=5,rate=50/s}"},
		reports: []string{"scylladb/seastar PR 1722", "scylladb/seastar PR 1723"},
		apply: func(p *Parts, r *mode.Reader) error {
			ppm := r.Int("ppm")
			r.Require(ppm > 0 && ppm <= 1_000_000, "ppm", "give 1 to 1000000")
			if err := r.Done(); err != nil {
				return err
			}
			b, err := bucketOf("round-up", p.Algorithm)
			if err != nil {
				return err
			}
			p.Algorithm = generous{around{p.Algorithm}, b, ppm}
			return nil
		},
	}
}

// generous is a token bucket that credits a little more than the time has earned.
type generous struct {
	around
	bucket
	ppm int64
}

func (g generous) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*limiter.Bucket)
	was := *k
	g.round(k, now)
	d, err := g.Algorithm.Decide(s, now, cost)
	if err != nil {
		*k = was
	}
	return d, err
}

func (g generous) View(s limiter.State, now int64) limiter.Decision {
	k := *s.(*limiter.Bucket)
	g.round(&k, now)
	return g.Algorithm.View(&k, now)
}

// round adds what is too much; the bucket itself adds the rest.
func (g generous) round(k *limiter.Bucket, now int64) {
	if now > k.Last {
		more := share(g.gain(since(k.Last, now)), g.ppm) + 1
		k.Level = min(g.full, k.Level+more)
	}
}
