package assertions

import (
	"fmt"
	"net/http"
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
type wallSeen struct {
	dates map[string]int64    // nanoseconds since 1970, by text
	peers map[string]*wallRun // by address: each has a clock of its own
}

// wallRun is what one address told.
type wallRun struct {
	lo, hi  int64 // the clock was ahead of our monotonic one by so much, since it was last moved
	last    int64 // the latest answer
	steps   []wallStep
	pending bool      // the last step is not measured yet
	laps    []dateLap // of a clock that is not stepped
}

// wallStep is a move of the clock.
type wallStep struct{ from, to, by int64 }

// dateLap is a stretch of the run, and the sharpest lower bound in it.
type dateLap struct {
	begun, lo int64
	n         int
}

const lapLength = int64(5 * time.Second)

func (w *wallSeen) hear(hits []results.Hit) {
	for i := range hits {
		h := &hits[i]
		if h.Date == "" || !h.Answered() || h.Outcome != results.Admitted && h.Outcome != results.Limited {
			continue
		}
		at, ok := w.dates[h.Date]
		if !ok {
			if t, err := http.ParseTime(h.Date); err == nil {
				at = t.UnixNano()
			}
			w.dates[h.Date] = at
		}
		if at == 0 {
			continue
		}
		if w.peers[h.Peer] == nil {
			w.peers[h.Peer] = &wallRun{lo: at - h.First, hi: at + int64(2*time.Second) - h.Sent}
		}
		w.peers[h.Peer].add(h, at-h.First, at+int64(2*time.Second)-h.Sent)
	}
}

func (r *wallRun) add(h *results.Hit, lo, hi int64) {
	if lo > r.hi || hi < r.lo {
		r.measure()
		r.steps = append(r.steps, wallStep{from: r.last, to: h.First, by: -r.lo})
		r.lo, r.hi, r.pending = lo, hi, true
	}
	r.lo, r.hi, r.last = max(r.lo, lo), min(r.hi, hi), h.Sent
	if n := len(r.laps); n == 0 || h.First-r.laps[n-1].begun > lapLength {
		r.laps = append(r.laps, dateLap{begun: h.First, lo: lo})
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
	for _, r := range w.peers {
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
		if ppm := r.drift(); ppm != 0 {
			parts = append(parts, fmt.Sprintf("all along by about %d ppm", ppm))
		}
	}
	if len(parts) == 0 {
		return f, false
	}
	f.Text = "the server's wall clock, as its Date tells it, moved against our monotonic one: " + strings.Join(parts, ", ") + "; a limiter that goes by it lets through too much or locks out"
	return f, true
}
