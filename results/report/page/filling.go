package page

import (
	"cmp"
	"slices"

	"github.com/ratehammer/ratehammer/results"
)

// filling is the second reading of a record.
type filling struct {
	data  *data
	lanes map[string]int
	sums  [][4][columns]int64 // by lane
	kept  keeper
	waits *waits
	texts map[string]int64
}

func newFilling(d *data, lanes map[string]int) *filling {
	f := &filling{data: d, lanes: lanes, sums: make([][4][columns]int64, len(d.Lanes)), waits: newWaits(d.Findings), texts: map[string]int64{"": 0}}
	f.kept = newKeeper(d)
	d.Texts = []string{""}
	d.Planned, d.Sent, d.Late = make([]int64, columns), make([]int64, columns), make([]int64, columns)
	return f
}

func (f *filling) block(b results.Block) {
	for _, m := range b.Marks {
		f.mark(m)
	}
	for i := range b.Hits {
		f.hit(&b.Hits[i])
	}
}

// mark notes an event. Shots that were missed are many: they are planned and not sent.
func (f *filling) mark(m results.Mark) {
	d := f.data
	if m.Kind == results.MarkMiss {
		d.Planned[d.column(m.At)]++
		return
	}
	if len(d.Marks) == mostMarks {
		return
	}
	to := m.To
	if to == results.Never {
		to = d.End
	}
	d.Marks = append(d.Marks, mark{At: m.At, To: to, Kind: string(m.Kind), Size: m.Size, Text: m.Text})
}

func (f *filling) hit(h *results.Hit) {
	d := f.data
	at, known := f.lanes[h.Key]
	if !known {
		at = len(d.Lanes) - 1
	}
	column := d.column(h.Sent)
	f.sums[at][h.Outcome&3][column]++
	d.Sent[column]++
	d.Planned[d.column(h.Planned)]++
	d.Late[column] = max(d.Late[column], h.Sent-h.Planned)
	f.waits.hit(h)
	for _, c := range d.Curves {
		c.hit(h)
	}
	if f.kept.wants(h) {
		d.Requests = append(d.Requests, f.request(at, h))
	}
}

// request is a hit as the page keeps it: lane, seq, sent, time to the answer (-1:
// none), lateness, outcome, status, phase, and the numbers of its texts:
// Retry-After, what went wrong, and other header lines; then the refusal that it
// obeyed, and its cost.
func (f *filling) request(lane int, h *results.Hit) []int64 {
	took := int64(-1)
	if h.Answered() {
		took = h.First - h.Sent
	}
	r := []int64{int64(lane), h.Seq, h.Sent, took, h.Sent - h.Planned, int64(h.Outcome), int64(h.Status), int64(h.Phase),
		f.text(h.RetryAfter), f.text(h.Err), f.text(h.Headers), h.Obeyed, h.Cost}
	return r
}

// text is the number of a text.
func (f *filling) text(s string) int64 {
	const longest, most = 400, 4000
	if len(s) > longest {
		s = s[:longest] + "..."
	}
	n, known := f.texts[s]
	if !known && len(f.texts) < most {
		n = int64(len(f.texts))
		f.texts[s] = n
		f.data.Texts = append(f.data.Texts, s)
	}
	return n
}

func (f *filling) finish() {
	for i := range f.sums {
		for o := range f.sums[i] {
			f.data.Lanes[i].Sums[o] = sparse(f.sums[i][o][:])
		}
	}
	slices.SortFunc(f.data.Requests, func(a, b []int64) int { return cmp.Or(cmp.Compare(a[2], b[2]), cmp.Compare(a[1], b[1])) })
	for _, c := range f.data.Curves {
		c.finish()
	}
	f.data.Waits = f.waits.points()
}

// sparse is a row as pairs of a column and what is in it.
func sparse(row []int64) []int64 {
	pairs := []int64{}
	for i, n := range row {
		if n > 0 {
			pairs = append(pairs, int64(i), n)
		}
	}
	return pairs
}
