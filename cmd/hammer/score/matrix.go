package score

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/ratehammer/ratehammer/cmd/target/virtual"
	"github.com/ratehammer/ratehammer/results"
)

// View is how cases are looked at: over a network, with one of the scenarios.
type View struct {
	Name     string
	Network  virtual.Network
	Thorough bool // and with the word that nothing but the key tells clients apart
}

// Views are those of the published table.
func Views() []View {
	return []View{
		{"check 0.4 ms", virtual.LAN(), false},
		{"check 20 ms", virtual.WAN(), false},
		{"thorough 0.4 ms", virtual.LAN(), true},
		{"thorough 20 ms", virtual.WAN(), true},
	}
}

// Line is what came of a case.
type Line struct {
	Case  Case
	Cells []Cell // by view
}

// Cell is what came of a case in one view.
type Cell struct {
	Runs, Kept, Inconclusive, Broken int
	Checks                           []string // that called it broken, the most frequent first
	Requests                         int      // of the first run
	Headline                         string   // of the first run that was not what it should be; empty: there is none
	counts                           map[string]int
}

// Matrix tries each case in each view with as many seeds, on all cores. It stops
// when ctx ends. done is told of each cell.
func Matrix(ctx context.Context, cases []Case, views []View, seeds int, done func()) ([]Line, error) {
	lines := make([]Line, len(cases))
	type job struct{ c, v int }
	jobs := make(chan job)
	var working sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range runtime.GOMAXPROCS(0) {
		working.Go(func() {
			for j := range jobs {
				cell, err := cellOf(ctx, cases[j.c], views[j.v], seeds)
				mu.Lock()
				lines[j.c].Cells[j.v] = cell
				if err != nil && failed == nil {
					failed = fmt.Errorf("%s: %w", cases[j.c].Name, err)
				}
				mu.Unlock()
				done()
			}
		})
	}
	for c := range cases {
		lines[c] = Line{Case: cases[c], Cells: make([]Cell, len(views))}
	}
	for c := range cases {
		for v := range views {
			jobs <- job{c, v}
		}
	}
	close(jobs)
	working.Wait()
	return lines, failed
}

func cellOf(ctx context.Context, c Case, v View, seeds int) (Cell, error) {
	cell := Cell{counts: map[string]int{}}
	for seed := 1; seed <= seeds && ctx.Err() == nil; seed++ {
		o, err := Run(c.Subject, Trial{Network: v.Network, Thorough: v.Thorough, Identity: v.Thorough, Seed: uint64(seed)})
		if err != nil {
			return cell, err
		}
		cell.add(o, c.Group == Defect)
	}
	cell.Checks = slices.SortedFunc(maps.Keys(cell.counts), func(a, b string) int {
		if d := cell.counts[b] - cell.counts[a]; d != 0 {
			return d
		}
		return len(a) - len(b)
	})
	return cell, ctx.Err()
}

func (c *Cell) add(o Outcome, wrong bool) {
	if c.Runs++; c.Runs == 1 {
		c.Requests = o.Requests
	}
	switch o.Status {
	case results.Kept:
		c.Kept++
	case results.Broken:
		c.Broken++
	default:
		c.Inconclusive++
	}
	for _, check := range o.Broken {
		c.counts[check]++
	}
	if surprising := (o.Status == results.Broken) != wrong; surprising && c.Headline == "" {
		c.Headline = o.Headline
	}
}

// Sum is what a matrix comes to.
type Sum struct {
	Defects, Caught int // defects, and those that some view catches in at least 95 of 100 runs
	Trials, Accused int // runs of what is right, and those that accused it
}

// Total adds up a matrix.
func Total(lines []Line) (s Sum) {
	for _, l := range lines {
		caught := false
		for _, c := range l.Cells {
			if l.Case.Group != Defect {
				s.Trials += c.Runs
				s.Accused += c.Broken
			}
			caught = caught || c.Runs > 0 && c.Broken*100 >= c.Runs*95
		}
		if l.Case.Group == Defect {
			s.Defects++
			if caught {
				s.Caught++
			}
		}
	}
	return s
}
