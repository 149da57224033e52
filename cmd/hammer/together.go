package main

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// span is a stretch of a run in which requests were under way: from when the first
// was due, or left, to when the last was answered or given up.
type span struct{ from, to int64 }

func (s *span) with(from, to int64) *span {
	if s == nil {
		return &span{from, to}
	}
	return &span{min(s.from, from), max(s.to, to)}
}

func (s *span) length() int64 {
	if s == nil {
		return 0
	}
	return s.to - s.from
}

// seen adds a request to what is known of when those of its phase and key were
// decided: somewhere from when it was sent to when it was answered.
func (c *counted) seen(at cell, h *results.Hit, planned bool) {
	end := h.First
	if !h.Answered() {
		end = h.Done
	}
	c.spans[at] = c.spans[at].with(min(h.Planned, h.Sent), end)
	if planned {
		c.behind[at.key] = c.behind[at.key].with(h.Sent-h.Planned, end-h.Planned)
	}
	if h.Outcome == results.Unknown {
		c.unknown[at.key]++
	}
}

// together are the phases of a key whose counts say something only as a sum: their
// requests were under way at the same time, so that either may have got a token.
type together struct {
	span
	phases   []string
	keys     map[string]bool // several where a limit counts several together
	cells    []cell
	adaptive bool // answers directed it, or what came before it on the key
	first    bool // nothing was sent on the key before
}

// joined are the phases of each key that have to be counted together, in either run:
// a phase whose first request was due, or left, before the last one of the phase
// before it was answered. An earlier start than the moment of sending is taken, since
// a late request may leave in another order in the other run.
func joined(base, candidate counted, s *scenarios.Scenario) (all []together) {
	place := map[string]int{}
	for i, p := range s.Phases {
		place[p.Name] = i
	}
	of := map[string]map[cell]span{}
	for _, spans := range []map[cell]*span{base.spans, candidate.spans} {
		for c, sp := range spans {
			bucket := c.key
			if severalKeys(s) {
				bucket = ""
			}
			if of[bucket] == nil {
				of[bucket] = map[cell]span{}
			}
			if had, ok := of[bucket][c]; ok {
				sp = sp.with(had.from, had.to)
			}
			of[bucket][c] = *sp
		}
	}
	for _, spans := range of {
		all = append(all, overlapping(spans, s, place)...)
	}
	slices.SortFunc(all, func(a, b together) int {
		return cmp.Or(cmp.Compare(place[a.phases[0]], place[b.phases[0]]), cmp.Compare(a.key(), b.key()))
	})
	return all
}

// severalKeys reports whether one of the limits counts together what another one
// tells apart, so that a request on one key takes from another.
func severalKeys(s *scenarios.Scenario) bool {
	return slices.ContainsFunc(s.Limits, func(l scenarios.Limit) bool { return l.Key != s.Limits[0].Key })
}

// overlapping are the groups of what one budget was asked. What follows on answers
// that directed what was sent finds a budget of which they decided.
func overlapping(spans map[cell]span, s *scenarios.Scenario, place map[string]int) (all []together) {
	order := slices.SortedFunc(maps.Keys(spans), func(a, b cell) int {
		return cmp.Or(cmp.Compare(spans[a].from, spans[b].from), cmp.Compare(place[a.phase], place[b.phase]), cmp.Compare(a.key, b.key))
	})
	for _, c := range order {
		n := len(all)
		if n == 0 || spans[c].from > all[n-1].to {
			all = append(all, together{span: spans[c], keys: map[string]bool{}, first: n == 0, adaptive: n > 0 && all[n-1].adaptive})
			n++
		}
		g := &all[n-1]
		g.to = max(g.to, spans[c].to)
		g.cells, g.keys[c.key] = append(g.cells, c), true
		g.adaptive = g.adaptive || s.Phases[place[c.phase]].Adaptive()
		if !slices.Contains(g.phases, c.phase) {
			g.phases = append(g.phases, c.phase)
		}
	}
	return all
}

func (g *together) phase() string { return strings.Join(g.phases, " + ") }

func (g *together) key() string {
	if len(g.keys) > 1 {
		return strconv.Itoa(len(g.keys)) + " keys"
	}
	return g.cells[0].key
}

func (g *together) sum(c counted) (sum outcomes) {
	for _, at := range g.cells {
		if o := c.cells[at]; o != nil {
			for i := range o {
				sum[i] += o[i]
			}
		}
	}
	return sum
}

// moved is by how much longer a stretch of the key may have been in one run than in
// the other, in nanoseconds. Both were planned alike. A request is decided behind its
// moment by something from least to most; so a stretch between two of them is longer
// than planned by up to most-least, or shorter, in either run. The step of the
// server's clock comes to both ends.
func moved(base, candidate counted, key string, l scenarios.Limit) int64 {
	return base.behind[key].length() + candidate.behind[key].length() + 2*int64(l.Slack.Quantum)
}

// brings is what may come to one run in the time that it took longer over a key, in
// whole tokens; the fraction is the one request of --counts-within. Behind another
// phase there is a second end whose fraction counts. What comes back all at once
// comes whole wherever such a moment may lie within that time.
func (g *together) brings(base, candidate counted, limits []scenarios.Limit) (tokens, parts int64) {
	for key := range g.keys {
		most, part := int64(0), int64(0)
		for _, l := range limits {
			if l.Rate.Per <= 0 {
				continue
			}
			d := time.Duration(moved(base, candidate, key, l))
			n := l.Rate.Tokens(d)
			if comesAtOnce(l.Contract) {
				n = saturating(l.Rate.Count, int64(d/l.Rate.Per)+1)
			}
			most, part = max(most, n), max(part, l.Rate.Tokens(min(d, math.MaxInt64/parted)*parted))
		}
		if !g.first {
			most++
		}
		tokens, parts = tokens+most+base.unknown[key]+candidate.unknown[key], parts+part
	}
	return tokens, parts
}

// parted is in how many parts a token is counted where fractions add up.
const parted = 1000

func saturating(a, b int64) int64 {
	if a > 0 && b > math.MaxInt32/a {
		return math.MaxInt32
	}
	return a * b
}

// comesAtOnce reports whether a limiter of this kind may give a whole budget back at one
// moment.
func comesAtOnce(c scenarios.Contract) bool {
	switch c {
	case scenarios.Lumps, scenarios.FixedWindow, scenarios.SlidingLog, scenarios.SlidingCounter, scenarios.Quota:
		return true
	}
	return false
}
