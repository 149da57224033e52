package assertions

import (
	"fmt"
	"slices"

	"github.com/ratehammer/ratehammer/results"
)

// CheckPrice is the id of what a refusal costs beside an admission. It is only
// told: no specification says that refusing has to be cheap.
const CheckPrice = "refusal.price"

// price compares how long refusals and admissions took, and sees whether
// connections are kept after a refusal: to open one anew costs both sides more
// than the answer. It hears the first 32,768 requests and a few more.
type price struct {
	heard             int64
	refused, admitted []int64          // nanoseconds
	last              map[int32]ending // by connection
	kept, left        [2]int64         // connections used again after an admission and a refusal, and their answers
}

// ending is the last answer on a connection.
type ending int

const (
	afterAdmitted ending = iota
	afterRefused
)

func newPrice() *price { return &price{last: map[int32]ending{}} }

func (p *price) check() string { return CheckPrice }
func (p *price) trim(int64)    {}

func (p *price) hear(events []event) {
	if p.heard >= sampleSize {
		return
	}
	for _, e := range events {
		if e.kind != ends || !e.f.hit.Answered() {
			continue
		}
		p.heard++
		h := e.f.hit
		if before, used := p.last[h.Conn]; used && !h.Fresh {
			p.kept[before]++
		}
		switch {
		case h.Outcome == results.Limited:
			p.refused = append(p.refused, h.First-h.Sent)
			p.answered(h.Conn, afterRefused)
		case h.Outcome == results.Admitted:
			p.admitted = append(p.admitted, h.First-h.Sent)
			p.answered(h.Conn, afterAdmitted)
		default:
			delete(p.last, h.Conn)
		}
	}
}

func (p *price) answered(conn int32, e ending) {
	p.left[e]++
	p.last[conn] = e
}

func (p *price) tell() []results.Finding {
	f := results.Finding{Check: CheckPrice, Level: results.Info}
	if len(p.refused) == 0 || len(p.admitted) == 0 {
		f.Text = "not asked: it takes refusals and admissions"
		return []results.Finding{f}
	}
	no, yes := median(p.refused), median(p.admitted)
	f.Got, f.Allowed, f.Unit = float64(no)/1e9, float64(yes)/1e9, "s"
	f.Text = fmt.Sprintf("half of the refusals took up to %s, and half of the admissions up to %s", duration(no), duration(yes))
	switch {
	case p.kept[afterRefused] > 0:
		f.Text += "; connections are kept after a refusal"
	case p.kept[afterAdmitted] > 0 && p.left[afterRefused] > 3:
		f.Text += fmt.Sprintf("; none of %s was used again after a refusal, as they are after admissions", plural(p.left[afterRefused], "connection"))
	}
	return []results.Finding{f}
}

func median(all []int64) int64 {
	s := slices.Clone(all)
	slices.Sort(s)
	return s[len(s)/2]
}
