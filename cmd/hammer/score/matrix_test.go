package score

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// few are cases that are cheap.
func few(t *testing.T, words ...string) []Case {
	t.Helper()
	all, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	cases := Named(all, words)
	if len(cases) < 2 {
		t.Fatalf("%v: got %d cases, want several", words, len(cases))
	}
	return cases
}

// Lines come in the order of the cases, whoever is done first, each with all of its
// runs, and the same seeds come to the same.
func TestMatrix(t *testing.T) {
	cases := few(t, "persist", "off-by-one", "concurrency")
	e := Extent{Views: Views(Scenarios()[:1], Distances()), Seeds: 2, Right: 3, Full: 1, Workers: 4}
	var first []Line
	for range 2 {
		steps := make(chan struct{}, 100)
		var lines []Line
		if err := Matrix(t.Context(), cases, e, func() { steps <- struct{}{} }, func(l Line) { lines = append(lines, l) }); err != nil {
			t.Fatal(err)
		}
		if len(steps) != e.Trials(cases) || len(lines) != len(cases) {
			t.Fatalf("got %d runs and %d lines, want %d and %d", len(steps), len(lines), e.Trials(cases), len(cases))
		}
		if first == nil {
			first = lines
		}
		var sum Sum
		for i, l := range lines {
			sum.Add(l)
			if l.Case.Name != cases[i].Name {
				t.Errorf("line %d: got %s, want %s", i, l.Case.Name, cases[i].Name)
			}
			for v, c := range l.Cells {
				if want := e.runs(l.Case); c.Runs != want || c.Full != 1 || c.Broken != first[i].Cells[v].Broken || !slices.Equal(c.Checks, first[i].Cells[v].Checks) {
					t.Errorf("%s: got %+v, want %d runs, one of them in full, and the same as before", l.Case.Name, c, want)
				}
			}
		}
		if sum.Caught != sum.Defects || sum.Defects != 3 || sum.Accused != 0 || sum.Trials == 0 {
			t.Errorf("got %+v, want all of 3 caught and nobody accused", sum)
		}
	}
}

// What was begun when it was interrupted is told.
func TestMatrixInterrupted(t *testing.T) {
	cases := few(t, "off-by-one")
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	var lines []Line
	err := Matrix(ctx, cases, Extent{Views: Views(Scenarios()[:1], Distances()), Seeds: 1000, Workers: 1}, func() {
		if n++; n == 3 {
			stop()
		}
	}, func(l Line) { lines = append(lines, l) })
	if !errors.Is(err, context.Canceled) || len(lines) != 1 || lines[0].Cells[0].Runs < 3 || lines[0].Cells[0].Runs > 5 {
		t.Errorf("got %v and %+v, want that it was canceled, and the first case with what was done of it", err, lines)
	}
}

// What is tried in real time is short, and nothing has to happen to it.
func TestReal(t *testing.T) {
	all, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	real, err := Real(all)
	if err != nil {
		t.Fatal(err)
	}
	var defects, right int
	for _, c := range real {
		if n, err := c.Subject.length(); err != nil || n > longest || len(c.Subject.Deeds) > 0 {
			t.Errorf("%s: got %v, %v and %v, want at most %v and that nothing happens", c.Name, n, err, c.Subject.Deeds, longest)
		}
		if c.Group == Defect {
			defects++
		} else {
			right++
		}
	}
	if defects < 25 || right < 15 {
		t.Errorf("got %d defects and %d others, want a good part of them", defects, right)
	}
}

// Over loopback a defect is seen, and what is right is not accused, whatever the
// machine is busy with.
func TestFire(t *testing.T) {
	cases := few(t, "off-by-one{delta=+1}", "token-bucket{burst=5,rate=50/s}")
	var sum Sum
	began := time.Now()
	if err := Matrix(t.Context(), cases, Extent{Views: Loopback(Scenarios()[:1]), Seeds: 1, Right: 1, Full: 1, Workers: 2}, func() {}, func(l Line) {
		sum.Add(l)
		if c := l.Cells[0]; l.Case.Group == Defect && c.Broken+c.Inconclusive != 1 {
			t.Errorf("%s: got %+v, want it broken, or too little seen", l.Case.Name, c)
		}
	}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v in %v", sum, time.Since(began))
	if sum.Accused > 0 || sum.Trials != 1 {
		t.Errorf("got %+v, want nobody accused", sum)
	}
}
