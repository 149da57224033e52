package assertions

import (
	"fmt"
	"slices"

	"github.com/ratehammer/ratehammer/results"
)

// Ids of causes that are about what a refusal does.
const (
	CauseProlong = "refusals.prolong" // who asks while he is refused is refused for longer
	CauseBlock   = "refusals.block"   // a refusal refuses all that follows for some time
)

// siege is a time in which a key was asked again and again and refused each time.
type siege struct {
	from, to int64 // ticks: the end of its first refusal, and the start of its last one
	refusals int
	pause    int64 // ticks from its last refusal to the admission that ended it; -1: none did
}

// sieges are those of a key.
func sieges(hits []*sampled) (all []siege) {
	var s siege
	for _, h := range hits {
		switch {
		case h.outcome == results.Limited && s.refusals == 0:
			s = siege{from: h.to, to: h.from, refusals: 1, pause: -1}
		case h.outcome == results.Limited:
			s.to, s.refusals = max(s.to, h.from), s.refusals+1
		case h.outcome == results.Admitted && s.refusals > 0 && h.from > s.from:
			s.pause = h.from - s.to
			all, s = append(all, s), siege{}
		}
	}
	if s.refusals > 0 {
		all = append(all, s)
	}
	return all
}

// besieged tells apart what refusals do to those that follow, by keys that were
// refused for longer than they can be by what they were admitted. Where such a
// siege ends with the asking, and never during it, refusals count like
// admissions. Where each ends by itself after the same time, it is a block. Keys
// that nobody besieged have to be answered as promised.
func (d *diagnosis) besieged(list breaches) (c results.Cause, ok bool) {
	first := list.firsts()
	if len(first) == 0 || d.over(d.limit()) {
		return c, false
	}
	full := d.whole.ticks(d.limit().Fill())
	var ended, held int // sieges that ended while the key was asked, and that did not
	var lengths []int64 // of those that ended
	keys := d.whole.byKey()
	for _, b := range first {
		for _, s := range sieges(keys[b.key]) {
			dense := s.refusals >= 10 && (s.to-s.from)/int64(s.refusals) < d.whole.ticks(d.token())/2
			switch {
			case b.at < s.from || b.at > s.to+full:
			case dense && s.pause >= 0 && s.pause < full/10:
				ended++
				lengths = append(lengths, s.to+s.pause-s.from)
			case dense && s.to-s.from > full+full/4:
				held++
			}
		}
	}
	switch {
	case ended >= 2 && ended >= held && slices.Max(lengths)-slices.Min(lengths) < slices.Max(lengths)/5:
		c.ID = CauseBlock
		c.Text = fmt.Sprintf("a refusal blocks the key: all that followed was refused for about %s", duration(int64(d.duration(slices.Max(lengths)))))
	case ended == 0 && held > 0:
		c.ID = CauseProlong
		c.Text = fmt.Sprintf("refusals seem to count like admissions: %s polled for longer than %s got nothing for as long as the polls went on", plural(int64(held), "key"), duration(int64(d.limit().Fill())))
	default:
		return c, false
	}
	return c, true
}
