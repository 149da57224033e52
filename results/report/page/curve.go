package page

import (
	"math"
	"strings"
)

// curve is what a limit allows from a moment on, beside which the page draws what
// was admitted.
type curve struct {
	Lane    int       `json:"lane"`    // -1: all of them
	Finding int       `json:"finding"` // its place among data.Findings; -1: none, the run as it went
	Limit   string    `json:"limit"`
	From    int64     `json:"from"`    // nanoseconds
	To      int64     `json:"to"`      // nanoseconds
	Step    int64     `json:"step"`    // nanoseconds between two values
	Allowed []float64 `json:"allowed"` // requests, from From on
}

const (
	mostCurves  = 6
	curvePoints = 240
)

// curves are those of the findings with a window; a run without one shows the
// first key's.
func (d *data) curves(s Source) {
	d.Curves = []curve{}
	if s.Allowed == nil {
		return
	}
	for i, f := range d.Findings {
		limit := s.Report.Findings[f.Index].Limit
		if strings.HasPrefix(f.Check, "bound.") && f.To > f.From && len(d.Curves) < mostCurves {
			d.add(s, curve{Lane: f.Lane, Finding: i, Limit: limit, From: f.From, To: f.To})
		}
	}
	if len(d.Curves) > 0 || len(d.Lanes) == 0 {
		return
	}
	for _, f := range s.Report.Findings {
		if f.Limit != "" {
			d.add(s, curve{Lane: 0, Finding: -1, Limit: f.Limit, From: d.first(0), To: d.last(0)})
			return
		}
	}
}

// add fills in what is allowed, for a third more than the window: the eye wants to
// see where it goes.
func (d *data) add(s Source, c curve) {
	c.Step = max(1, (c.To-c.From)*4/3/(curvePoints-1))
	for i := range int64(curvePoints) {
		n, ok := s.Allowed(c.Limit, i*c.Step)
		if !ok || math.IsInf(n, 0) || math.IsNaN(n) {
			return
		}
		c.Allowed = append(c.Allowed, math.Round(n*1000)/1000)
	}
	d.Curves = append(d.Curves, c)
}

// first and last are about when a lane's first and last request was sent.
func (d *data) first(lane int) int64 {
	first := int64(columns)
	for _, row := range d.Lanes[lane].Sums {
		if len(row) > 0 {
			first = min(first, row[0])
		}
	}
	return first * d.Width
}

func (d *data) last(lane int) int64 {
	last := int64(0)
	for _, row := range d.Lanes[lane].Sums {
		if len(row) > 0 {
			last = max(last, row[len(row)-2])
		}
	}
	return min((last+1)*d.Width, d.End)
}
