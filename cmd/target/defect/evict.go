package defect

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func evict() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "evict",
			Settings: "form=lru|clear-all|idle,max-keys=NUMBER,after=DURATION",
			Example:  "evict{form=lru,max-keys=100}",
			Text:     "Keys are forgotten with what they owe: of more than max-keys the one that was not asked for longest (lru) or all of them (clear-all), or a key that was not asked for so long (idle, with after).",
		},
		rows:    []string{"D28"},
		reports: []string{"falabellamichael/SignalR.E.A.C.H PR 76", "gonka-ai/gonka PR 1056", "ELares/IronTraffic issue 217"},
		stage:   beside,
		apply: func(p *Parts, r *mode.Reader) error {
			form := r.Choice("form", "lru", "lru", "clear-all", "idle")
			keys, after := r.IntOr("max-keys", 0), r.DurationOr("after", 0)
			idle := form == "idle"
			r.Require(r.Has("after") == idle, "after", "goes with form=idle, which needs it, and with no other")
			r.Require(r.Has("max-keys") != idle, "max-keys", "goes with form=lru or clear-all, which need it")
			r.Require(!idle || after > 0, "after", "give a duration above 0")
			r.Require(idle || keys >= 1 && keys <= 1<<24, "max-keys", fmt.Sprintf("give 1 to %d", 1<<24))
			if err := r.Done(); err != nil {
				return err
			}
			if idle {
				p.Algorithm = pruned{note[visited](p.Algorithm), after}
			} else {
				p.Algorithm = seated{note[*seat](p.Algorithm), newHall(int(keys), form == "clear-all")}
			}
			return nil
		},
	}
}

// seated is an algorithm that remembers only the keys that have a seat.
type seated struct {
	noting[*seat]
	hall *hall
}

func (a seated) Fresh(now int64) limiter.State {
	return &noted[*seat]{a.Algorithm.Fresh(now), &seat{hall: a.hall}}
}

func (a seated) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*noted[*seat])
	if !k.Note.taken() { // forgotten, or never seen before
		k.State = a.Algorithm.Fresh(now)
	}
	d, err := a.Algorithm.Decide(k.State, now, cost)
	if err == nil {
		k.Note.take()
	}
	return d, err
}

func (a seated) View(s limiter.State, now int64) limiter.Decision {
	if !s.(*noted[*seat]).Note.taken() {
		s = a.Fresh(now)
	}
	return a.noting.View(s, now)
}

// Forgettable is what has no seat: it would be decided as if it had never been
// used. Who has a seat keeps it even if its bucket is full, as in any such table.
func (a seated) Forgettable(s limiter.State, _ int64) bool {
	return !s.(*noted[*seat]).Note.taken()
}

// visited is when a key was asked last, and whether it ever was.
type visited struct {
	Last  int64
	Known bool
}

// pruned is an algorithm that forgets a key after a rest.
type pruned struct {
	noting[visited]
	after time.Duration
}

func (a pruned) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*noted[visited])
	if a.gone(k, now) {
		k.State = a.Algorithm.Fresh(now)
	}
	d, err := a.Algorithm.Decide(k.State, now, cost)
	if err == nil {
		k.Note = visited{now, true}
	}
	return d, err
}

func (a pruned) View(s limiter.State, now int64) limiter.Decision {
	if a.gone(s.(*noted[visited]), now) {
		s = a.Fresh(now)
	}
	return a.noting.View(s, now)
}

func (a pruned) Forgettable(s limiter.State, now int64) bool {
	return a.gone(s.(*noted[visited]), now) || a.noting.Forgettable(s, now)
}

func (a pruned) gone(k *noted[visited], now int64) bool {
	return k.Note.Known && now-k.Note.Last > int64(a.after)
}
