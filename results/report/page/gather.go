package page

import (
	"github.com/ratehammer/ratehammer/results"
)

// How much of a record is put into a page.
const (
	columns    = 960    // of a row of sums
	mostLanes  = 48     // keys with a row of their own; the rest shares one
	mostKeys   = 20_000 // keys that are told apart while counting
	mostExact  = 14_000 // requests that are kept one by one
	mostMarks  = 400
	mostWaits  = 1_200 // refusals whose Retry-After is shown
	mostShown  = 10    // findings that requests are kept for, in a record too long to keep all
	mostInside = 1_200 // requests that are kept of a finding's window
	mostAround = 250   // and of the time before and behind it, each
)

// data is what the scripts of the page draw.
type data struct {
	End      int64       `json:"end"`   // nanoseconds: nothing is later
	Width    int64       `json:"width"` // nanoseconds of a column
	Columns  int         `json:"columns"`
	Hits     int64       `json:"hits"`
	Exact    bool        `json:"exact"` // every request is here
	Phases   []string    `json:"phases"`
	Lanes    []lane      `json:"lanes"` // the most interesting first
	Keys     int         `json:"keys"`  // in the record, at least
	Requests [][]int64   `json:"requests"`
	Texts    []string    `json:"texts"` // that requests refer to by number
	Marks    []mark      `json:"marks"`
	Findings []finding   `json:"findings"`
	Curves   []*curve    `json:"curves"`
	Waits    [][]int64   `json:"waits"` // see waits.points
	Planned  []int64     `json:"planned"`
	Sent     []int64     `json:"sent"`
	Late     []int64     `json:"late"` // by column: the longest, nanoseconds
	Latency  []Latency   `json:"latency"`
	Shares   []float64   `json:"shares"`
	Causes   []causeMark `json:"causes"`
}

// lane is the requests of one key.
type lane struct {
	Key  string     `json:"key"`
	Rest int        `json:"rest,omitempty"` // how many keys share this lane; 0: it is one key's
	N    [4]int64   `json:"n"`              // requests by outcome
	Sums [4][]int64 `json:"sums"`           // by outcome: pairs of a column and its requests
}

type mark struct {
	At   int64  `json:"at"`
	To   int64  `json:"to"`
	Kind string `json:"kind"`
	Size int64  `json:"size,omitempty"` // nanoseconds
	Text string `json:"text,omitempty"`
}

// finding is what the timeline shows of one.
type finding struct {
	Index int     `json:"index"`
	Check string  `json:"check"`
	Must  bool    `json:"must"`
	Lane  int     `json:"lane"` // -1: all of them
	Key   string  `json:"key"`
	From  int64   `json:"from"`
	To    int64   `json:"to"`
	Seqs  []int64 `json:"seqs"`
	Text  string  `json:"text"`
}

// causeMark is a moment at which the likely cause lies.
type causeMark struct {
	At   int64  `json:"at"`
	Text string `json:"text"`
}

// gather reads the record twice: to know its keys and its length, and then to sum
// it up in lanes and columns.
func gather(s Source) data {
	c := census{keys: map[string]*tally{}}
	s.Record(c.block)
	d := &data{End: max(c.end, 1), Hits: c.hits, Exact: c.hits <= mostExact, Phases: s.Phases, Keys: len(c.keys), Latency: s.Latency, Shares: s.Shares, Columns: columns,
		Requests: [][]int64{}, Marks: []mark{}, Findings: []finding{}}
	d.Width = (d.End + columns) / columns
	chosen := c.choose(s.Report.Findings)
	d.lanes(c, chosen)
	d.findings(s.Report.Findings, chosen)
	d.causes(s.Report.Causes)
	d.choose(s, c)
	f := newFilling(d, chosen)
	s.Record(f.block)
	f.finish()
	return *d
}

func (d *data) lanes(c census, chosen map[string]int) {
	d.Lanes = make([]lane, len(chosen))
	for key, i := range chosen {
		d.Lanes[i] = lane{Key: key, N: c.keys[key].n}
	}
	rest := lane{Rest: len(c.keys) - len(chosen)}
	for key, t := range c.keys {
		if _, ok := chosen[key]; !ok {
			for o := range t.n {
				rest.N[o] += t.n[o]
			}
		}
	}
	for o, n := range c.more.n {
		rest.N[o] += n
	}
	if rest.N != [4]int64{} {
		rest.Key = "other keys"
		d.Lanes = append(d.Lanes, rest)
	}
}

func (d *data) findings(all []results.Finding, chosen map[string]int) {
	for i, f := range all {
		if f.Status != results.Broken || f.Level == results.Info {
			continue
		}
		out := finding{Index: i, Check: f.Check, Must: f.Level == results.Must, Key: f.Key, From: f.FromNS, To: f.ToNS, Seqs: f.Seqs, Text: f.Text, Lane: -1}
		if lane, ok := chosen[f.Key]; ok && f.Key != "" {
			out.Lane = lane
		}
		d.Findings = append(d.Findings, out)
	}
}

// causes are the moments of the likeliest cause.
func (d *data) causes(all []results.Cause) {
	if len(all) == 0 {
		return
	}
	for _, at := range all[0].AtNS {
		d.Causes = append(d.Causes, causeMark{at, all[0].Text})
	}
}

// column is where a moment lies.
func (d *data) column(at int64) int {
	return int(min(max(at, 0)/d.Width, columns-1))
}
