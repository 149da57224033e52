package page

import (
	"cmp"
	"slices"

	"github.com/ratehammer/ratehammer/results"
)

// census is what the first reading of a record tells: its length and its keys.
type census struct {
	end  int64
	hits int64
	keys map[string]*tally
	more tally // requests of keys that there was no more room to tell apart
}

type tally struct {
	n           [4]int64 // requests by outcome
	first, last int64    // when the first and the last were sent
}

func (c *census) block(b results.Block) {
	for _, m := range b.Marks {
		if m.To != results.Never {
			c.end = max(c.end, m.To)
		}
	}
	c.hits += int64(len(b.Hits))
	for i := range b.Hits {
		h := &b.Hits[i]
		c.end = max(c.end, h.Sent)
		if h.Done != results.Never {
			c.end = max(c.end, h.Done)
		}
		t := c.keys[h.Key]
		switch {
		case t == nil && len(c.keys) == mostKeys:
			t = &c.more
		case t == nil:
			t = &tally{first: h.Sent}
			c.keys[h.Key] = t
		}
		t.n[h.Outcome&3]++
		t.first, t.last = min(t.first, h.Sent), max(t.last, h.Sent)
	}
}

// choose gives the keys that get a lane of their own, with its place: first those
// that are broken, then those with the most requests, in the order of their
// beginnings.
func (c *census) choose(findings []results.Finding) map[string]int {
	chosen := map[string]int{}
	add := func(key string) {
		if _, known := chosen[key]; !known && c.keys[key] != nil && len(chosen) < mostLanes {
			chosen[key] = len(chosen)
		}
	}
	for _, level := range []results.Level{results.Must, results.Should} {
		for _, f := range findings {
			if f.Status == results.Broken && f.Level == level {
				add(f.Key)
			}
		}
	}
	var rest []string
	for key := range c.keys {
		if _, known := chosen[key]; !known {
			rest = append(rest, key)
		}
	}
	slices.SortFunc(rest, func(a, b string) int {
		return cmp.Or(cmp.Compare(c.keys[b].sum(), c.keys[a].sum()), cmp.Compare(c.keys[a].first, c.keys[b].first), cmp.Compare(a, b))
	})
	for _, key := range rest {
		add(key)
	}
	return chosen
}

func (t *tally) sum() (n int64) {
	for _, m := range t.n {
		n += m
	}
	return n
}
