package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ratehammer/ratehammer/cmd/hammer/score"
)

// scored is what hammer score says, in JSON.
type scored struct {
	Version int          `json:"version"`
	Sum     score.Sum    `json:"sum"`
	Lines   []scoredLine `json:"lines"`
}

type scoredLine struct {
	Name  string                `json:"name"`
	Group score.Group           `json:"group"`
	Rows  []string              `json:"rows,omitempty"`
	Cells map[string]score.Cell `json:"views"`
}

func (s *scored) add(l score.Line, views []score.View) {
	one := scoredLine{Name: l.Case.Name, Group: l.Case.Group, Rows: l.Case.Rows, Cells: map[string]score.Cell{}}
	for i, v := range views {
		one.Cells[v.Name] = l.Cells[i]
	}
	s.Lines = append(s.Lines, one)
}

// scoreTable prints a matrix line by line, as it comes.
type scoreTable struct {
	w      *bufio.Writer
	extent score.Extent
	name   int // columns
	after  []string
}

func newScoreTable(w io.Writer, cases []score.Case, e score.Extent) *scoreTable {
	t := &scoreTable{w: bufio.NewWriter(w), extent: e}
	for _, c := range cases {
		t.name = max(t.name, len(c.Name))
	}
	return t
}

// cellWidth holds 1000/1000 and how many were inconclusive.
const cellWidth = 13

func (t *scoreTable) row(group, name string, cells []string, last ...string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-6s  %-*s", group, t.name, name)
	for _, c := range cells {
		fmt.Fprintf(&b, "  %-*s", cellWidth, c)
	}
	for _, c := range last {
		fmt.Fprintf(&b, "  %-8s", c)
	}
	fmt.Fprintln(t.w, strings.TrimRight(b.String(), " "))
	t.w.Flush()
}

func (t *scoreTable) head() {
	var names []string
	for _, v := range t.extent.Views {
		names = append(names, v.Name)
	}
	t.row("", "case", names, "requests", "found by")
}

func (t *scoreTable) line(l score.Line) {
	var cells []string
	var requests, by string
	for i, c := range l.Cells {
		v := t.extent.Views[i]
		cells = append(cells, fmt.Sprintf("%d/%d%s", c.Broken, c.Runs, doubts(c)))
		if by == "" && (c.Caught() || l.Case.Group != score.Defect && len(c.Checks) > 0) {
			by, requests = c.Checks[0], fmt.Sprint(c.Requests)
		}
		if c.Surprise != "" && l.Case.Group != score.Defect {
			t.after = append(t.after, fmt.Sprintf("accused: %s, %s: %s", l.Case.Name, v.Name, c.Surprise))
		}
	}
	if requests == "" { // of what is not caught, what it took not to
		requests = fmt.Sprint(slices.MaxFunc(l.Cells, func(a, b score.Cell) int { return a.Requests - b.Requests }).Requests)
	}
	t.missed(l)
	t.row(string(l.Case.Group), l.Case.Name, cells, requests, by)
}

// missed keeps what is said of a defect that is not caught, and why.
func (t *scoreTable) missed(l score.Line) {
	if l.Case.Group != score.Defect {
		return
	}
	why := l.Case.Unseen
	for _, c := range l.Cells {
		if c.Caught() {
			return
		}
		if why == "" {
			why = c.Doubt
		}
	}
	if why == "" {
		why = "nothing that was fired shows it"
	}
	t.after = append(t.after, fmt.Sprintf("not caught: %s: %s", l.Case.Name, why))
}

// doubts tells of runs in which too little was seen.
func doubts(c score.Cell) string {
	if c.Inconclusive == 0 {
		return ""
	}
	return fmt.Sprintf(" %d?", c.Inconclusive)
}

// foot prints what there is to say of some lines, and the sum.
func (t *scoreTable) foot(sum score.Sum) error {
	for _, a := range t.after {
		fmt.Fprintf(t.w, "\n%s\n", a)
	}
	fmt.Fprintf(t.w, "\n%d of %d defects caught in at least 95 of 100 runs of some view; %d of %d runs of what is right accused\n",
		sum.Caught, sum.Defects, sum.Accused, sum.Trials)
	return t.w.Flush()
}
