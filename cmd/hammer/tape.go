package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/probes"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// tape makes a scenario of arrivals out of a record: each request at the moment at
// which it was sent.
type tape struct {
	most   int                     // requests; more are an error
	phases []scenarios.Phase       // that were fired, by Hit.Phase
	only   func(*results.Hit) bool // which requests are taken; nil: all
	given  bool                    // the keys are known to the server, and not to be told apart by phase

	groups map[group]*sent
	hits   int
}

// group are requests that were due together: they leave together again.
type group struct {
	phase   int32
	key     string
	planned int64
	seq     int64 // of one that was due by itself; 0: others may be due with it
}

type sent struct {
	at    int64 // the first one's moment
	count int
	cost  int64
}

// recorded are the phases of a run as they were fired, without what was fired after
// a breach.
func (e *earlier) recorded(most int) ([]scenarios.Phase, error) {
	m := e.saved.Manifest
	asked := e.asked().Phases
	t := tape{most: most, phases: asked, given: len(m.Keys) > 0}
	for b, err := range e.saved.Blocks() {
		if err != nil {
			return nil, fmt.Errorf("the record of %s is not whole, so it cannot be fired again: %w", e.folder, err)
		}
		t.block(b)
		if t.hits > most {
			return nil, &probes.Hinted{Err: fmt.Errorf("%s holds more than %d requests, as many as --max-requests allows", e.folder, most), Hint: "allow more with --max-requests"}
		}
	}
	return t.written()
}

func (t *tape) block(b results.Block) {
	if t.groups == nil {
		t.groups = map[group]*sent{}
	}
	for i := range b.Hits {
		h := &b.Hits[i]
		if int(h.Phase) >= len(t.phases) {
			continue // a follow-up
		}
		if t.only != nil && !t.only(h) {
			continue
		}
		t.hits++
		g := group{h.Phase, h.Key, h.Planned, 0}
		if h.Cost > 1 { // its neighbours may ask for other costs
			g.seq = h.Seq
		}
		if s := t.groups[g]; s != nil {
			s.at, s.count = min(s.at, h.Sent), s.count+1
			continue
		}
		t.groups[g] = &sent{h.Sent, 1, h.Cost}
	}
}

// errNothingSent is the error of a tape without a request.
var errNothingSent = errors.New("nothing was sent, so there is nothing to fire again")

// written gives the phases. A key belongs to the first of them that it was used in;
// what a later one fires on it is a phase of its own where that fires on keys of
// several phases.
func (t *tape) written() (out []scenarios.Phase, err error) {
	if t.hits == 0 {
		return nil, errNothingSent
	}
	if t.given {
		if err := t.merge(); err != nil {
			return nil, err
		}
	}
	home := map[string]int32{}
	for g := range t.groups {
		if p, ok := home[g.key]; !ok || g.phase < p {
			home[g.key] = g.phase
		}
	}
	type part struct{ phase, home int32 }
	parts := map[part][]group{}
	for g := range t.groups {
		p := part{g.phase, home[g.key]}
		parts[p] = append(parts[p], g)
	}
	order := make([]part, 0, len(parts))
	for p := range parts {
		order = append(order, p)
	}
	slices.SortFunc(order, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.phase, b.phase), cmp.Compare(b.home, a.home))
	})
	for _, p := range order {
		out = append(out, t.phase(p.phase, p.home, parts[p]))
	}
	return out, nil
}

// merge takes all as one phase: the planner must not wait between phases until given
// keys are full again.
func (t *tape) merge() error {
	for _, p := range t.phases {
		if !p.Vary.None() {
			return fmt.Errorf("phase %q varies its requests, which a recording on given keys cannot hold", p.Name)
		}
	}
	one := map[group]*sent{}
	for g, s := range t.groups {
		g.phase = 0
		if before := one[g]; before != nil {
			s.at, s.count = min(s.at, before.at), s.count+before.count
		}
		one[g] = s
	}
	t.groups, t.phases = one, []scenarios.Phase{{Name: "recorded"}}
	return nil
}

// phase is what was fired in a phase on the keys of its own, or on those of the
// earlier phase home.
func (t *tape) phase(n, home int32, groups []group) scenarios.Phase {
	from := t.phases[n]
	p := scenarios.Phase{Name: from.Name, Apart: from.Apart, Held: from.Held, Vary: from.Vary}
	begin := int64(math.MaxInt64)
	for _, g := range groups {
		begin = min(begin, t.groups[g].at)
	}
	for _, g := range groups {
		s := t.groups[g]
		a := scenarios.Arrival{At: time.Duration(s.at - begin), Key: t.client(g.key, home), Count: s.count}
		if s.count == 1 {
			a.Count = 0
		}
		if s.cost > 1 {
			a.Cost = s.cost
		}
		p.Arrivals = append(p.Arrivals, a)
	}
	slices.SortFunc(p.Arrivals, func(a, b scenarios.Arrival) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Cost, b.Cost))
	})
	at := time.Duration(begin)
	p.At = &at
	if home == n {
		p.Keys.Fresh = len(scenarios.Named(p.Arrivals))
		return p
	}
	p.Keys.Of = t.phases[home].Name
	if from.Keys.Of == "" || from.Keys.Of != p.Keys.Of {
		p.Name += " on " + p.Keys.Of
	}
	return p
}

// client is the name of a key within the phase that it belongs to.
func (t *tape) client(label string, home int32) string {
	name := strings.TrimPrefix(label, t.phases[home].Name+"/")
	if name == "1" {
		return ""
	}
	return name
}
