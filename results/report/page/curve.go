package page

import (
	"math"
	"slices"
	"strings"

	"github.com/ratehammer/ratehammer/results"
)

// curve is what a limit allows from a moment on, and what came to be admitted
// since then.
type curve struct {
	Lane     int       `json:"lane"`    // -1: all of them
	Finding  int       `json:"finding"` // its place among data.Findings; -1: none, the run as it went
	Least    bool      `json:"least"`   // what may have been spent is drawn, beside which a refusal was wrong
	From     int64     `json:"from"`    // nanoseconds
	To       int64     `json:"to"`      // nanoseconds
	Step     int64     `json:"step"`    // nanoseconds between two values of Allowed
	Allowed  []float64 `json:"allowed"` // requests, from From on
	Admitted [][]int64 `json:"admitted"`
	Limited  []int64   `json:"limited"`
	Got      int64     `json:"got"` // tokens by To
	Due      float64   `json:"due"` // what is allowed by To: as the finding says, with what is granted

	limit  string
	key    string // empty: all of them
	slack  int64
	tokens sums
	doors  sums // refusals
}

const (
	mostCurves  = 6
	curvePoints = 240
	curveSteps  = 600 // of what was admitted, before neighbours are joined
)

// choose says what is drawn: the findings about windows, and in a run without one
// the first key.
func (d *data) choose(s Source, c census) {
	d.Curves = []*curve{}
	if s.Allowed == nil {
		return
	}
	for i, f := range d.Findings {
		if strings.HasPrefix(f.Check, "bound.") && f.To > f.From && len(d.Curves) < mostCurves {
			d.add(s, &curve{Lane: f.Lane, Finding: i, key: f.Key, From: f.From, To: f.To, Least: f.Check == "bound.lower", limit: s.Report.Findings[f.Index].Limit})
		}
	}
	if len(d.Curves) > 0 || len(d.Lanes) == 0 || c.keys[d.Lanes[0].Key] == nil {
		return
	}
	first := c.keys[d.Lanes[0].Key]
	for _, f := range s.Report.Findings {
		if f.Limit != "" {
			d.add(s, &curve{Lane: 0, Finding: -1, key: d.Lanes[0].Key, From: first.first, To: first.last, limit: f.Limit})
			return
		}
	}
}

// add fills in what is allowed, for a third more than the window: the eye wants to
// see where it goes.
func (d *data) add(s Source, c *curve) {
	c.slack = s.Slack
	c.Step = max(1, (c.To-c.From)*4/3/(curvePoints-1))
	for i := range int64(curvePoints) {
		n, ok := s.Allowed(c.limit, i*c.Step)
		if !ok || math.IsInf(n, 0) || math.IsNaN(n) {
			return
		}
		c.Allowed = append(c.Allowed, math.Round(n*1000)/1000)
	}
	c.tokens, c.doors = newSums(c.From, c.end()), newSums(c.From, c.end())
	c.Due, _ = s.Allowed(c.limit, c.To-c.From)
	if c.Finding >= 0 && !c.Least {
		c.Due = s.Report.Findings[d.Findings[c.Finding].Index].Allowed
	}
	d.Curves = append(d.Curves, c)
}

// end is the last moment that is drawn.
func (c *curve) end() int64 { return c.From + c.Step*(curvePoints-1) }

// hit counts a request where the promise is held against it: an admission when it
// is over for certain, or what may have spent a token when it left.
func (c *curve) hit(h *results.Hit) {
	if c.key != "" && h.Key != c.key || h.Sent > c.end() {
		return
	}
	cost := max(h.Cost, 1)
	switch {
	case h.Outcome == results.Limited:
		if h.Sent >= c.From {
			c.doors.add(h.Sent, 1)
		}
	case c.Least:
		if !h.Answered() || h.First+min(c.slack, results.Never-h.First) >= c.From {
			c.count(max(h.Sent, c.From), cost)
		}
	case h.Outcome == results.Admitted && h.Answered() && h.Sent >= c.From:
		c.count(h.First, cost)
	}
}

func (c *curve) count(at, cost int64) {
	if at <= c.To {
		c.Got += cost
	}
	c.tokens.add(at, cost)
}

func (c *curve) finish() {
	c.Admitted, c.Limited = c.tokens.points(), []int64{}
	for _, p := range c.doors.points() {
		c.Limited = append(c.Limited, p[0])
	}
}

// sums are numbers at moments, exact while they are few, and in equal stretches of time when they
// are many.
type sums struct {
	from, width int64
	few         [][]int64
	many        []int64 // nil: they are few
}

func newSums(from, to int64) sums {
	return sums{from: from, width: max(1, (to-from)/curveSteps)}
}

func (s *sums) add(at, n int64) {
	if s.many == nil && len(s.few) < curveSteps {
		s.few = append(s.few, []int64{at, n})
		return
	}
	if s.many == nil {
		s.many = make([]int64, curveSteps+1)
		for _, p := range s.few {
			s.put(p[0], p[1])
		}
	}
	s.put(at, n)
}

func (s *sums) put(at, n int64) {
	if i := (at - s.from) / s.width; i >= 0 && i < int64(len(s.many)) {
		s.many[i] += n
	}
}

// points are pairs of a moment and a number, in the order of time.
func (s *sums) points() [][]int64 {
	if s.many == nil {
		slices.SortFunc(s.few, slices.Compare)
		return append([][]int64{}, s.few...)
	}
	points := [][]int64{}
	for i, n := range s.many {
		if n > 0 {
			points = append(points, []int64{s.from + int64(i+1)*s.width, n})
		}
	}
	return points
}
