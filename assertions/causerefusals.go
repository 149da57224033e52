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

// watched is how sieges went.
type watched struct {
	ended   []int64 // ticks: those that ended while the key was asked, from the first refusal to the admission
	held    []int64 // ticks: those that did not, from the first refusal to the last
	silence int64   // ticks: the shortest from a first refusal to an admission with hardly a question between; 0: there is none
}

// block is after how long sieges ended by themselves, if most did after the same
// time, and none that lasted longer did not.
func (w watched) block() (length int64, ok bool) {
	if len(w.ended) == 0 || len(w.ended)+len(w.held) < 2 {
		return 0, false
	}
	slices.Sort(w.ended)
	length = w.ended[len(w.ended)/2]
	near := 0
	for _, t := range w.ended {
		if abs(t-length) < length/10 {
			near++
		}
	}
	return length, 3*near >= 2*len(w.ended) && slices.Max(append([]int64{0}, w.held...)) < length+length/10
}

// watch looks at the keys that broke the promise, and at all that were left alone.
func (d *diagnosis) watch(first breaches) (w watched) {
	full := d.whole.ticks(d.limit().Fill())
	broke := map[int32]int64{}
	for _, b := range first {
		broke[b.key] = b.at
	}
	for key, hits := range d.whole.byKey() {
		at, breaks := broke[key]
		for _, s := range sieges(hits) {
			asked, dense := s.to-s.from, s.refusals >= 10 && (s.to-s.from)/int64(s.refusals) < d.whole.ticks(d.token())/2
			whole := asked + s.pause
			switch {
			case s.pause > max(asked, 0):
				if w.silence == 0 || whole < w.silence {
					w.silence = whole
				}
			case !breaks || !dense || s.to+full < at:
			case s.pause >= 0 && s.pause < asked/4:
				w.ended = append(w.ended, whole)
			default:
				w.held = append(w.held, asked)
			}
		}
	}
	return w
}

// besieged tells apart what refusals do to those that follow, by keys that were
// refused for longer than they can be by what they were admitted. Where such a
// siege lasts longer than a key is refused that is left alone, refusals count like
// admissions. Where each ends by itself after the same time, it is a block.
func (d *diagnosis) besieged(list breaches) (c results.Cause, ok bool) {
	first := list.firsts()
	if len(first) == 0 || d.over(d.limit()) {
		return c, false
	}
	w := d.watch(first)
	full, wait := d.whole.ticks(d.limit().Fill()), d.whole.ticks(d.limit().Longest())
	most := slices.Max(append([]int64{0}, w.held...))
	lasting := func(ticks int64) string { return duration(int64(d.duration(ticks))) }
	length, blocks := w.block()
	keys := plural(int64(len(w.held)), "time")
	switch {
	case blocks && length > wait+wait/5:
		c.ID = CauseBlock
		c.Text = "a refusal blocks the key: all that followed was refused for about " + lasting(length)
	case len(w.ended) > 0 || len(w.held) == 0:
		return c, false
	case w.silence > 0 && most > w.silence+w.silence/10 && most > wait:
		c.ID = CauseProlong
		c.Text = fmt.Sprintf("refusals seem to count like admissions: %s a key that was polled got nothing for as long as the polls went on, for up to %s, and one that was left alone was admitted %s after its first refusal", keys, lasting(most), lasting(w.silence))
	case most > full+full/4:
		c.ID = CauseProlong
		c.Text = fmt.Sprintf("refusals seem to count like admissions: %s a key that was polled for longer than %s got nothing for as long as the polls went on", keys, lasting(full))
	case w.silence == 0 && len(w.held) > 1 && most > 3*wait:
		c.ID = CauseBlock
		c.Text = fmt.Sprintf("a refusal blocks the key, or nothing ever comes back to it: %s a key that was polled got nothing for as long as it was watched, up to %s", keys, lasting(most))
		c.Reasons = []string{"no key was left alone and asked again, so whether it is the asking that prolongs it is not known"}
	default:
		return c, false
	}
	return c, true
}
