package defect

import (
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func noTTL() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "no-ttl",
			Settings: "p=SHARE",
			Example:  "no-ttl{p=0.1}",
			Text:     "A key that is used up loses its expiry with probability p, each time, and is refused for ever from then on, with the same Retry-After again and again.",
		},
		rows:    []string{"D18"},
		reports: []string{"Tabcorp/redis-rate-limiter issue 1", "redis/redis issue 4548", "haraka/Haraka issue 1757", "alisaifee/limits issue 14", "JSONbored/loopover issue 9493"},
		stage:   beside,
		apply: func(p *Parts, r *mode.Reader) error {
			ppm := r.Share("p")
			r.Require(ppm > 0, "p", "0 is no defect, give more and at most 1, such as 0.001")
			if err := r.Done(); err != nil {
				return err
			}
			p.Algorithm = immortal{note[lifeless](p.Algorithm), float64(ppm) / 1e6, p.chance("no-ttl")}
			return nil
		},
	}
}

// lifeless is what is noted of a key.
type lifeless struct {
	Out   bool          // refused, and not admitted since
	Stuck bool          // for ever
	At    int64         // moment at which it got stuck, nanoseconds
	Wait  time.Duration // that was right then
}

// immortal is an algorithm some of whose keys never expire once they are used up.
type immortal struct {
	noting[lifeless]
	p      float64
	chance func() float64
}

func (a immortal) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*noted[lifeless])
	if k.Note.Stuck {
		if _, err := a.Algorithm.Decide(k.State.Clone(), k.Note.At, cost); err != nil {
			return limiter.Decision{}, err
		}
		d := refusal(a.Algorithm, k.State, k.Note.At)
		d.Wait = k.Note.Wait
		return d, nil
	}
	d, err := a.Algorithm.Decide(k.State, now, cost)
	if err != nil {
		return d, err
	}
	usedUp := !d.Admitted && !k.Note.Out
	k.Note.Out = !d.Admitted
	if usedUp && a.chance() < a.p {
		k.Note.Stuck, k.Note.At, k.Note.Wait = true, now, d.Wait
	}
	return d, nil
}

func (a immortal) View(s limiter.State, now int64) limiter.Decision {
	if k := s.(*noted[lifeless]); k.Note.Stuck {
		now = k.Note.At
	}
	return a.noting.View(s, now)
}

// Forgettable is false of a key that is stuck.
func (a immortal) Forgettable(s limiter.State, now int64) bool {
	return !s.(*noted[lifeless]).Note.Stuck && a.noting.Forgettable(s, now)
}
