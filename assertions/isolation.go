package assertions

import (
	"fmt"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// CheckIsolation is the id of the isolation of keys: what one client spends is
// not missing to another.
const CheckIsolation = "key.isolation"

// isolation asks whether one budget for all keys explains the record where a
// budget for each does not. It is broken when a refusal was wrong for its own
// key, and a single bucket shared by all keys, whatever it held at the start,
// fits everything that was admitted and refused.
type isolation struct {
	*scene
	limit     scenarios.Limit
	keys      int32     // seen so far
	admitted  staircase // over all keys
	held      pessimist
	explained int64
	first     *flight
}

func newIsolation(sc *scene, l scenarios.Limit) *isolation {
	up := newTempo(l.Rate, l.Slack.Over, sc.length(), l.Burst, roundUp)
	down := newTempo(l.Rate, -l.Slack.Under, sc.length(), l.Burst, roundDown)
	return &isolation{scene: sc, limit: l, admitted: staircase{tempo: up},
		held: newPessimist(down, l.Burst, floorDiv(-sc.early, sc.tick), false)}
}

func (s *isolation) check() string     { return CheckIsolation }
func (s *isolation) trim(oldest int64) { s.held.trim(oldest) }

func (s *isolation) hear(events []event) {
	for _, e := range events {
		switch e.kind {
		case tears:
			s.admitted.forget()
			continue
		case loses:
			continue
		case regains:
			s.held.unknown(e.at)
			continue
		}
		s.bound(e)
		s.level(e)
	}
}

func (s *isolation) bound(e event) {
	switch {
	case e.f.torn:
	case e.kind == starts:
		s.keys = max(s.keys, e.f.key+1)
		s.admitted.start(e.at)
	case e.f.hit.Outcome == results.Admitted:
		s.admitted.end(e.f.from, e.at, e.f.hit.Cost)
	default:
		s.admitted.end(e.f.from, e.at, 0)
	}
}

func (s *isolation) level(e event) {
	h := e.f.hit
	switch {
	case e.kind == starts && e.f.spends():
		s.held.spend(e.at, h.Cost)
	case e.kind == starts:
		s.held.refuse(e.at)
	case e.f.spends():
		s.held.spent(e.at, h.Cost)
	default:
		low := s.held.refused(e.f.from, e.at, h.Cost)
		if e.f.wrong && low.level < s.held.weigh(h.Cost) {
			s.explained++
			if s.first == nil {
				s.first = e.f
			}
		}
	}
}

func (s *isolation) tell() []results.Finding {
	f := results.Finding{Check: CheckIsolation, Limit: s.limit.Name}
	shared := s.admitted.load <= s.admitted.weigh(s.limit.Burst) && s.held.wrong == 0
	switch {
	case s.keys < 2:
		f.Level = results.Info
		f.Text = "not asked: it takes two keys"
	case s.explained > 0 && shared:
		f.Status, f.Key = results.Broken, s.first.hit.Key
		f.Seqs = []int64{s.first.hit.Seq}
		f.FromNS, f.ToNS = s.clock(s.first.from, s.first.to)
		f.Text = fmt.Sprintf("the %d keys share one budget: %s refused that their own key had tokens for, and a single bucket of %d at %v fits all that was admitted and refused",
			s.keys, wereRefused(s.explained), s.limit.Burst, s.limit.Rate)
	case s.admitted.load > s.admitted.weigh(s.limit.Burst):
		f.Status = results.Kept
		f.Text = fmt.Sprintf("the %d keys have budgets of their own: together they were admitted more than one bucket allows", s.keys)
	default:
		f.Level = results.Info
		f.Text = fmt.Sprintf("not asked: the %d keys together never needed more than one budget", s.keys)
	}
	return []results.Finding{f}
}

func wereRefused(n int64) string {
	if n == 1 {
		return "1 request was"
	}
	return fmt.Sprintf("%d requests were", n)
}
