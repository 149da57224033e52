package assertions

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// CheckServerClock is the id of what answers' Date tells of the server's wall clock.
const CheckServerClock = "server.clock"

// wallSeen is the server's wall clock as its answers tell it. Date is cut to the second
// and some servers write it anew once a second, so that it bounds the clock to two
// seconds; the answers around the edge of a second do so much more sharply, and what
// all of them have in common is where the clock is. Where nothing is in common, it was moved.
// What hammer does itself is never told as the server's: see ownMoves.
type wallSeen struct {
	dates   map[string]int64    // nanoseconds since 1970, by text
	peers   map[string]*wallRun // by address: each has a clock of its own
	waiting []heardDate         // that a mark may still precede
	own     ownMoves
}

// heardDate is what an answer of an address tells.
type heardDate struct {
	sent, first, date int64 // nanoseconds: of ours since the run's start, and since 1970
	peer              string
}

// wallRun is what one address told.
type wallRun struct {
	since   int64 // how many moves of our own there had been by the latest answer
	lo, hi  int64 // the clock was ahead of our monotonic one by so much, since it was last moved
	last    int64 // the latest answer
	steps   []wallStep
	pending bool      // the last step is not measured yet
	laps    []dateLap // of a clock that is not stepped
	drifted int64     // millionths, before our last own move; 0: it was not seen to
}

// wallStep is a move of the clock.
type wallStep struct{ from, to, by int64 }

// dateLap is a stretch of the run, and the sharpest lower bound in it.
type dateLap struct {
	begun, lo int64
	n         int
}

const (
	lapLength = int64(5 * time.Second)
	// dateLate is how much later than a second a Date may be written anew that is written
	// once a second, by a timer of a busy server; and what a clock that is slewed by as
	// much as systems do gains within a few minutes.
	dateLate = int64(200 * time.Millisecond)
)

func newWallSeen() wallSeen { return wallSeen{dates: map[string]int64{}, peers: map[string]*wallRun{}} }

// hear takes in a piece of the record. No later one has a request that was sent before
// low, nor a mark.
func (w *wallSeen) hear(hits []results.Hit, marks []results.Mark, low int64) {
	for _, m := range marks {
		w.own.hear(m)
	}
	for i := range hits {
		h := &hits[i]
		if h.Date == "" || !h.Answered() || h.Outcome != results.Admitted && h.Outcome != results.Limited {
			continue
		}
		if at := w.date(h.Date); at != 0 {
			w.waiting = append(w.waiting, heardDate{h.Sent, h.First, at, h.Peer})
		}
	}
	w.settle(low)
}

// date is the moment that a Date tells; 0: it tells none.
func (w *wallSeen) date(text string) int64 {
	at, ok := w.dates[text]
	if !ok {
		if t, err := http.ParseTime(text); err == nil {
			at = t.UnixNano()
		}
		w.dates[text] = at
	}
	return at
}

// settle takes in what was answered before a moment, in the order of the answers.
func (w *wallSeen) settle(before int64) {
	slices.SortStableFunc(w.waiting, func(a, b heardDate) int { return cmp.Compare(a.first, b.first) })
	n := 0
	for ; n < len(w.waiting) && w.waiting[n].first < before; n++ {
		x := w.waiting[n]
		moves, clear := w.own.at(x.sent, x.first)
		if !clear {
			continue
		}
		r := w.peers[x.peer]
		if r == nil {
			r = &wallRun{since: -1}
			w.peers[x.peer] = r
		}
		r.add(x, moves)
	}
	w.waiting = slices.Delete(w.waiting, 0, n)
}

func (r *wallRun) add(t heardDate, moves int64) {
	lo, hi := t.date-t.first, t.date+int64(2*time.Second)-t.sent
	switch {
	case r.since != moves: // what was told before our own move says nothing of the clock behind it
		r.measure()
		r.drifted = cmp.Or(r.drifted, r.drift())
		r.since, r.lo, r.hi, r.laps = moves, lo, hi, nil
	case lo > r.hi+dateLate || hi < r.lo-dateLate:
		r.measure()
		r.steps = append(r.steps, wallStep{from: r.last, to: t.first, by: -r.lo})
		r.lo, r.hi, r.pending = lo, hi, true
	}
	r.lo, r.hi, r.last = max(r.lo, lo), min(r.hi, hi), t.sent
	if n := len(r.laps); n == 0 || t.first-r.laps[n-1].begun > lapLength {
		r.laps = append(r.laps, dateLap{begun: t.first, lo: lo})
	}
	l := &r.laps[len(r.laps)-1]
	l.lo, l.n = max(l.lo, lo), l.n+1
}

// measure says how far the last step was, now that both sides of it are known.
func (r *wallRun) measure() {
	if r.pending {
		r.steps[len(r.steps)-1].by += r.lo
		r.pending = false
	}
}

// drift is how many millionths the clock runs faster than ours; 0: it is not seen to.
// The sharpest bound of a stretch is that of an answer right behind the edge of a
// second, which dense requests meet within a few hundredths.
func (r *wallRun) drift() (ppm int64) {
	const least, few = int64(300 * time.Millisecond), 50
	var full []dateLap
	for _, l := range r.laps {
		if l.n >= few {
			full = append(full, l)
		}
	}
	if len(full) < 4 || len(r.steps) > 0 {
		return 0
	}
	full = full[:len(full)-1] // the last one may not have met an edge
	first, last := full[0], full[len(full)-1]
	if moved := last.lo - first.lo; moved > least || -moved > least {
		return moved * 1000 / ((last.begun - first.begun) / 1000)
	}
	return 0
}

// tell says what was seen; ok: the clock was moved.
func (w *wallSeen) tell() (f results.Finding, ok bool) {
	f = results.Finding{Check: CheckServerClock, Status: results.Kept, Level: results.Info}
	var parts []string
	w.settle(results.Never)
	for _, peer := range slices.Sorted(maps.Keys(w.peers)) {
		r := w.peers[peer]
		r.measure()
		for i, s := range r.steps {
			if f.FromNS == 0 || s.from < f.FromNS {
				f.FromNS = s.from
			}
			f.ToNS = max(f.ToNS, s.to)
			if i < 3 {
				parts = append(parts, fmt.Sprintf("by about %s between %s and %s", duration(s.by/int64(100*time.Millisecond)*int64(100*time.Millisecond)), instant(s.from), instant(s.to)))
			}
		}
		if n := len(r.steps) - 3; n > 0 {
			parts = append(parts, fmt.Sprintf("and %s more", plural(int64(n), "time")))
		}
		if ppm := cmp.Or(r.drift(), r.drifted); ppm != 0 {
			parts = append(parts, fmt.Sprintf("all along by about %d ppm", ppm))
		}
	}
	if len(parts) == 0 {
		return f, false
	}
	f.Text = "the server's wall clock, as its Date tells it, moved against our monotonic one: " + strings.Join(parts, ", ") + "; a limiter that goes by it lets through too much or locks out"
	return f, true
}
