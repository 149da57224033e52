package score

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// Extent is how much is tried.
type Extent struct {
	Views   []View
	Seeds   int // runs of each defect in each view
	Right   int // runs of each other case in each view
	First   int // the first seed; 0: 1
	Full    int // of the runs of a cell, how many are looked at in full, see Trial.Quick
	Workers int // that try at the same time; 0: one for each core
}

func (e Extent) runs(c Case) int {
	if c.Group == Defect {
		return e.Seeds
	}
	return e.Right
}

// Trials is how many runs that are.
func (e Extent) Trials(cases []Case) (n int) {
	for _, c := range cases {
		n += e.runs(c) * len(e.Views)
	}
	return n
}

// job is one run of a case in a view.
type job struct{ c, v, seed int }

// Matrix tries each case in each view. It stops when ctx ends, with its error, or at
// a trial that could not be made. step is told of each run, and line of each case in
// their order, as soon as all of its runs are done.
func Matrix(ctx context.Context, cases []Case, e Extent, step func(), line func(Line)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	t := &table{cases: cases, extent: e, lines: make([]Line, len(cases)), left: make([]int, len(cases)), line: line}
	for i, c := range cases {
		t.lines[i] = Line{Case: c, Cells: make([]Cell, len(e.Views))}
		t.left[i] = e.runs(c) * len(e.Views)
	}
	jobs := make(chan job)
	var working sync.WaitGroup
	workers := e.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	for range workers {
		working.Go(func() {
			for j := range jobs {
				if err := t.try(ctx, j); err != nil {
					stop(fmt.Errorf("%s: %w", cases[j.c].Name, err))
				}
				step()
			}
		})
	}
	t.hand(ctx, jobs)
	close(jobs)
	working.Wait()
	t.end()
	return context.Cause(ctx)
}

// table is a matrix that is being filled in.
type table struct {
	cases  []Case
	extent Extent
	line   func(Line)

	mu    sync.Mutex
	lines []Line
	left  []int // runs of each case that are not done
	told  int   // cases that line has been told of
}

// hand gives the runs out, until ctx ends.
func (t *table) hand(ctx context.Context, jobs chan<- job) {
	for c := range t.cases {
		for v := range t.extent.Views {
			for n := range t.extent.runs(t.cases[c]) {
				select {
				case jobs <- job{c, v, max(t.extent.First, 1) + n}:
				case <-ctx.Done():
					return
				}
			}
		}
	}
}

func (t *table) try(ctx context.Context, j job) error {
	c, v := t.cases[j.c], t.extent.Views[j.v]
	trial := Trial{Network: v.Network, Thorough: v.Thorough, Identity: v.Thorough, Seed: uint64(j.seed),
		Quick: j.seed-max(t.extent.First, 1) >= t.extent.Full}
	var o Outcome
	var err error
	if v.Real {
		o, err = Fire(ctx, c.Subject, trial)
	} else {
		o, err = Run(c.Subject, trial)
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines[j.c].Cells[j.v].add(o, trial, c.Group == Defect)
	t.left[j.c]--
	for t.told < len(t.cases) && t.left[t.told] == 0 {
		t.tell()
	}
	return nil
}

// end tells of what was begun and not ended.
func (t *table) end() {
	for t.told < len(t.cases) {
		if begun := t.lines[t.told].Cells[0].Runs > 0; !begun {
			t.told++
			continue
		}
		t.tell()
	}
}

// tell tells of the next line.
func (t *table) tell() {
	for i := range t.lines[t.told].Cells {
		t.lines[t.told].Cells[i].close()
	}
	t.line(t.lines[t.told])
	t.told++
}
