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
// key, and a single budget shared by all keys, whatever it held at the start,
// fits everything that was admitted and refused. It asks the sample: keys that
// share a budget do so from the start.
type isolation struct {
	sample *sample
	limits []scenarios.Limit
	i      int
}

func newIsolation(s *sample, limits []scenarios.Limit, i int) *isolation {
	return &isolation{s, limits, i}
}

func (s *isolation) check() string { return CheckIsolation }
func (s *isolation) hear([]event)  {}
func (s *isolation) trim(int64)    {}

// explain counts the refusals in the sample that were wrong for their own keys
// and would not be with a shared budget, and gives the first.
func (s *isolation) explain(shared *court) (explained int64, first *sampled) {
	own := newCourt(s.sample.scene, s.limits)
	for _, x := range s.sample.moments() {
		h := &s.sample.hits[x.i]
		switch x.rank {
		case 0, 1:
			own.start(h.key, &h.brief)
			shared.start(h.key, &h.brief)
		case 2:
			mine, _ := own.refused(h.key, &h.brief)
			ours, _ := shared.refused(h.key, &h.brief)
			if mine.wrong && !ours.wrong {
				if explained++; first == nil {
					first = h
				}
			}
		default:
			own.spent(h.key, &h.brief)
			shared.spent(h.key, &h.brief)
		}
	}
	return explained, first
}

func (s *isolation) tell() []results.Finding {
	limit, keys := s.limits[s.i], len(s.sample.names)
	one := limit
	one.Key = scenarios.Key{}
	court := newCourt(s.sample.scene, []scenarios.Limit{one})
	explained, first := s.explain(court)
	shared, apart := !court.refuted(0), court.tooMuch(0)
	f := results.Finding{Check: CheckIsolation, Limit: limit.Name}
	switch {
	case keys < 2:
		f.Level = results.Info
		f.Text = "not asked: it takes two keys"
	case explained > 0 && shared:
		f.Status, f.Key = results.Broken, s.sample.names[first.key]
		f.Seqs = []int64{first.seq}
		f.FromNS, f.ToNS = s.sample.clock(first.from, first.to)
		f.Text = fmt.Sprintf("the %d keys share one budget: %s refused that their own key had room for, and a single budget of %s for all of them fits all that was admitted and refused",
			keys, wereRefused(explained), terms(limit))
		if limit.Contract == scenarios.Quota {
			f.Status = results.Inconclusive
			f.Text += "; the policy does not say whom it counts together: say it with --key, and the algorithm with --contract"
		}
	case apart:
		f.Status = results.Kept
		f.Text = fmt.Sprintf("the %d keys have budgets of their own: together they were admitted more than one budget allows", keys)
	default:
		f.Level = results.Info
		f.Text = fmt.Sprintf("not asked: the %d keys together never needed more than one budget", keys)
	}
	return []results.Finding{f}
}

func wereRefused(n int64) string {
	if n == 1 {
		return "1 request was"
	}
	return fmt.Sprintf("%d requests were", n)
}
