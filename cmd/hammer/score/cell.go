package score

import (
	"maps"
	"slices"

	"github.com/ratehammer/ratehammer/results"
)

// Line is what came of a case.
type Line struct {
	Case  Case
	Cells []Cell // by view
}

// Cell is what came of a case in one view.
type Cell struct {
	Runs         int      `json:"runs"`
	Broken       int      `json:"broken"`       // of all runs
	Full         int      `json:"full"`         // runs of which it was looked for what they would have caught
	Inconclusive int      `json:"inconclusive"` // of the full ones
	Checks       []string `json:"checks"`       // that called it broken, the most frequent first
	Requests     int      `json:"requests"`     // the most that a run sent
	Surprise     string   `json:"surprise"`     // headline of a run that was not what it should be; empty: there is none
	Doubt        string   `json:"doubt"`        // headline of an inconclusive run; empty: there is none
	counts       map[string]int
	surprising   uint64 // seed of the run that is told of
}

// Caught reports whether a defect is called broken in at least 95 of 100 runs.
func (c Cell) Caught() bool { return c.Runs > 0 && c.Broken*100 >= c.Runs*95 }

func (c *Cell) add(o Outcome, t Trial, wrong bool) {
	c.Runs++
	c.Requests = max(c.Requests, o.Requests)
	switch o.Status {
	case results.Broken:
		c.Broken++
	case results.Inconclusive:
		if !t.Quick {
			c.Inconclusive++
		}
		c.Doubt = o.Headline
	}
	if !t.Quick {
		c.Full++
	}
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	for _, check := range o.Broken {
		c.counts[check]++
	}
	if (o.Status == results.Broken) != wrong && (c.Surprise == "" || t.Seed < c.surprising) {
		c.Surprise, c.surprising = o.Headline, t.Seed
	}
}

// close fills in what is told of all runs together.
func (c *Cell) close() {
	c.Checks = slices.SortedFunc(maps.Keys(c.counts), func(a, b string) int {
		if d := c.counts[b] - c.counts[a]; d != 0 {
			return d
		}
		return len(a) - len(b)
	})
}

// Sum is what a matrix comes to.
type Sum struct {
	Defects int `json:"defects"`
	Caught  int `json:"caught"`  // defects that some view catches in at least 95 of 100 runs
	Trials  int `json:"trials"`  // runs of what is right
	Accused int `json:"accused"` // of them that were called broken
}

// Add counts one line more.
func (s *Sum) Add(l Line) {
	if l.Case.Group == Defect {
		s.Defects++
		if slices.ContainsFunc(l.Cells, Cell.Caught) {
			s.Caught++
		}
		return
	}
	for _, c := range l.Cells {
		s.Trials += c.Runs
		s.Accused += c.Broken
	}
}
