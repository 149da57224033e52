package assertions

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// seenKind is what became of a request while a store was away.
type seenKind uint8

const (
	seenOther    seenKind = iota // answered by something that is not the limiter
	seenAdmitted                 // let through
	seenLimited                  // refused as declared
	seenFailed                   // answered by a status of 500 and above, which let it through to nothing
	seenSilent                   // given up after a wait, however short a one was asked for
	seenLost                     // there was nobody to answer
)

func kindOf(h *results.Hit) seenKind {
	switch {
	case h.Outcome == results.Admitted:
		return seenAdmitted
	case h.Outcome == results.Limited:
		return seenLimited
	case h.Status >= 500:
		return seenFailed
	case h.Answered() && h.Status > 0:
		return seenOther
	case h.GivenUp() || h.Done-h.Sent >= patience:
		return seenSilent
	}
	return seenLost
}

// meanwhile is what was seen of a limiter while its store was away.
type meanwhile struct {
	hits    []results.Hit // in the order in which they were sent
	pending int           // more that were not answered before it was over, and are none of these
	counts  map[seenKind]int
	words   map[string]int
}

func newMeanwhile(x *absence, hits []results.Hit) meanwhile {
	s := meanwhile{hits: hits, counts: map[seenKind]int{}, words: map[string]int{}}
	for i := range hits {
		k := kindOf(&hits[i])
		s.counts[k]++
		if k == seenSilent && hits[i].Done >= x.over {
			s.words["not answered while that lasted"]++
			continue
		}
		s.words[seenInWords(k, &hits[i])]++
	}
	return s
}

func seenInWords(k seenKind, h *results.Hit) string {
	switch k {
	case seenAdmitted:
		return "admitted"
	case seenLimited:
		return fmt.Sprintf("refused with %d", h.Status)
	case seenSilent:
		return "not answered within " + waitInWords(h.Done-h.Sent)
	case seenLost:
		return "lost, as there was nobody to answer"
	}
	return fmt.Sprintf("answered with %d", h.Status)
}

// waitInWords is a wait that is rounded, so that those of one timeout are one.
func waitInWords(wait int64) string {
	for _, unit := range []time.Duration{time.Second, 100 * time.Millisecond, 10 * time.Millisecond} {
		if u := int64(unit); wait >= u-u/20 {
			return duration(max(u, (wait+u/20)/u*u))
		}
	}
	return duration(wait)
}

// String counts what was seen.
func (s *meanwhile) String() string {
	return fmt.Sprintf("of %s %s", plural(int64(len(s.hits)), "request"), listed(s.words))
}

// like is which of the policies it looks like. It is a conjecture.
func (s *meanwhile) like(x *absence) string {
	switch p, size := s.guess(); {
	case x.slow && (s.counts[seenAdmitted] > 0 || p == scenarios.ExpectLocal):
		return "it may be the store that decided"
	case p == "":
		return "that looks like none of what can be declared"
	case p == x.want.Policy:
		return ""
	case p == scenarios.ExpectLocal:
		return fmt.Sprintf("that looks like local budgets, or like one that needs no store: up to %d admitted on a client before a refusal", size)
	default:
		return fmt.Sprintf("that looks like %s", p)
	}
}

// guess is the policy that all of it goes with, and how many were admitted on a client
// before a refusal.
func (s *meanwhile) guess() (p scenarios.Expect, size int) {
	n := len(s.hits)
	switch {
	case n == 0:
		return "", 0
	case s.counts[seenAdmitted] == n:
		return scenarios.ExpectOpen, 0
	case s.counts[seenSilent] == n:
		return scenarios.ExpectHang, 0
	case s.counts[seenFailed] == n:
		if s.words["answered with 503"] == n {
			return scenarios.ExpectClosed, 0 // as which many say so
		}
		return scenarios.ExpectError, 0
	case s.counts[seenFailed]+s.counts[seenLimited] == n:
		return scenarios.ExpectClosed, 0
	case s.counts[seenAdmitted]+s.counts[seenLimited] < n:
		return "", 0
	}
	if wrong, _ := s.changed(); len(wrong) == 0 {
		return scenarios.ExpectFrozen, 0
	}
	return scenarios.ExpectLocal, s.before()
}

// client is one as a node knows it.
type client struct {
	key, peer string
	cost      int64
}

func clientOf(h *results.Hit) client { return client{h.Key, h.Peer, h.Cost} }

// changed are the requests that were answered otherwise than one of the same client
// before, which a state that stands still does not do.
func (s *meanwhile) changed() (wrong []results.Hit, why string) {
	first := map[client]results.Outcome{}
	for i := range s.hits {
		h := &s.hits[i]
		if h.Outcome != results.Admitted && h.Outcome != results.Limited {
			continue
		}
		if was, ok := first[clientOf(h)]; !ok {
			first[clientOf(h)] = h.Outcome
		} else if was != h.Outcome {
			wrong = append(wrong, *h)
		}
	}
	return wrong, fmt.Sprintf(", where %s answered otherwise than the first of the same client", wereRequests(len(wrong)))
}

func wereRequests(n int) string {
	return fmt.Sprintf("%s %s", plural(int64(n), "request"), verb(n, "was", "were"))
}

// before is how many were admitted at most on a client that was then refused.
func (s *meanwhile) before() (most int) {
	n, refused := map[client]int{}, map[client]bool{}
	for i := range s.hits {
		h := &s.hits[i]
		switch c := clientOf(h); {
		case refused[c]:
		case h.Outcome == results.Admitted:
			n[c]++
		case h.Outcome == results.Limited:
			refused[c] = true
			most = max(most, n[c])
		}
	}
	return most
}
