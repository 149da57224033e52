package assertions

import (
	"fmt"
	"slices"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// A wall clock that is set back stops the refill of all keys that were used before,
// until it shows the time again that it showed when they were last used. Keys that
// are first used afterwards know nothing of it.

// setBack looks for that in what answers say of the time.
func (d *diagnosis) setBack(list breaches) (c results.Cause, ok bool) {
	first := list.firsts()
	if len(first) == 0 || d.over(d.limit()) {
		return c, false
	}
	at, by, told := d.dateStep()
	blur := d.whole.ticks(2 * time.Second) // Date is written to the second, and cached for another
	if !told || by >= 0 || first[0].at < at-blur || first[len(first)-1].at > at+abs(by)+d.whole.ticks(d.limit().Fill())+blur {
		return c, false
	}
	back := d.duration(-by).Round(time.Second)
	return d.stepped(first[0].at, fmt.Sprintf("the server's wall clock was set back by about %v around %s", back, d.moment(first[0].at)),
		"its answers' Date says so, and nothing was refused wrongly before"), true
}

func (d *diagnosis) stepped(at int64, text, reason string) results.Cause {
	ns, _ := d.whole.clock(at, at)
	return results.Cause{ID: CauseClock, Text: text + ": what a key had spent before does not come back until it has caught up", AtNS: []int64{ns}, Reasons: []string{reason}}
}

// firsts are the first breach of each key, in the order of time.
func (b breaches) firsts() (first breaches) {
	known := map[int32]bool{}
	for _, x := range b {
		if !known[x.key] {
			known[x.key], first = true, append(first, x)
		}
	}
	return first
}

// dateStep is the first moment at which what answers say of the time does not go
// with what they said before, and by how much it differs then, in ticks; 0: they
// go together. It is not told where answers say nothing of the time.
func (d *diagnosis) dateStep() (at, by int64, told bool) {
	second := d.whole.ticks(time.Second)
	var offset closed // of the server's clock against ours; none where lo > hi
	known := false
	hits := slices.Clone(d.whole.hits)
	slices.SortStableFunc(hits, func(a, b sampled) int { return int(min(max(a.to-b.to, -1), 1)) })
	for i := range hits {
		h := &hits[i]
		if h.date == 0 || h.outcome != results.Admitted && h.outcome != results.Limited {
			continue
		}
		now := closed{h.date*second - second - h.to, h.date*second + 2*second - h.from}
		switch {
		case !known:
			offset, known = now, true
		case now.lo > offset.hi || now.hi < offset.lo:
			return h.to, (now.lo+now.hi)/2 - (offset.lo+offset.hi)/2, true
		default:
			offset = closed{max(offset.lo, now.lo), min(offset.hi, now.hi)}
		}
	}
	return 0, 0, known
}

// stopped finds keys of different ages that were admitted until one moment and not
// from then on, where keys that were first used later are answered as promised. It
// is asked where answers say nothing of the time, and of limits that admit one by
// one, whose keys do not stop together for other reasons.
func (d *diagnosis) stopped(list breaches) (c results.Cause, ok bool) {
	first := list.firsts()
	if _, _, told := d.dateStep(); told || len(first) < 2 || periodic(d.limit().Contract) || d.over(d.limit()) {
		return c, false
	}
	near := d.whole.ticks(d.token()) + d.whole.ticks(150*time.Millisecond)
	keys := d.whole.byKey()
	var stops []breach // at: the last admission before a key's first breach
	back := map[int32]int64{}
	for _, b := range first {
		last := int64(-1)
		for _, h := range keys[b.key] {
			switch {
			case h.outcome != results.Admitted:
			case h.to <= b.at:
				last = max(last, h.to)
			case back[b.key] == 0:
				back[b.key] = h.from
			}
		}
		if last >= 0 {
			stops = append(stops, breach{last, b.key, b.age})
		}
	}
	slices.SortFunc(stops, func(a, b breach) int { return int(min(max(a.at-b.at, -1), 1)) })
	var met breaches // the largest number of stops near each other
	for i := range stops {
		n := i
		for n < len(stops) && stops[n].at-stops[i].at <= near && stops[n].at <= first[0].at {
			n++
		}
		if n-i > len(met) {
			met = stops[i:n]
		}
	}
	if len(met) < 2 {
		return c, false
	}
	at := met[len(met)-1].at
	if !d.sound(first, at+near) || !d.differ(met) {
		return c, false
	}
	lasted := int64(0)
	for _, s := range met {
		if t := back[s.key]; t > 0 {
			lasted = max(lasted, t-at)
		}
	}
	by := "for the rest of the run"
	if lasted > 0 {
		by = "for about " + duration(int64(d.duration(lasted)))
	}
	return d.stepped(at, fmt.Sprintf("on %d keys of different ages all admissions ended in the same instant, around %s, %s: as after a wall clock that was set back by so much", len(met), d.moment(at), by),
		"keys that were first used later were answered as promised"), true
}

// sound reports whether keys that were first used behind a moment kept the promise,
// and some of them were refused something.
func (d *diagnosis) sound(first breaches, at int64) bool {
	refused := false
	for key, hits := range d.whole.byKey() {
		if hits[0].from <= at {
			continue
		}
		if slices.ContainsFunc(first, func(b breach) bool { return b.key == key }) {
			return false
		}
		refused = refused || slices.ContainsFunc(hits, func(h *sampled) bool { return h.outcome == results.Limited })
	}
	return refused
}

// differ reports whether keys were first used at different moments.
func (d *diagnosis) differ(list breaches) bool {
	var born []int64
	for _, b := range list {
		born = append(born, d.whole.byKey()[b.key][0].from)
	}
	return slices.Max(born)-slices.Min(born) > d.whole.ticks(100*time.Millisecond)
}
