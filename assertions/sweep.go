package assertions

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/results/fields"
)

// flight is one request on its way through the sweep. Its interval is widened by
// what the two clocks may be off.
type flight struct {
	brief
	hit   *results.Hit
	key   int32              // index of its key
	asks  results.RetryAfter // what the refusal asks for; the zero value where it is none, or cannot be read
	wrong bool               // it was refused wrongly for certain; set by bounds
	ended bool
	told  *due           // what a refusal on the key had said before it left; nil: nothing; set by tight
	said  *fields.Answer // what its fields tell of limits; nil: not read yet
	wait  int64          // number of the wait of its key that it left in; -1: none; set by consistent
}

// eventKind is what an event tells.
type eventKind uint8

const (
	starts  eventKind = iota // a request's interval begins
	ends                     // and ends
	tears                    // our clock stood still, or may have: times before and after do not compare
	loses                    // from here on requests may be missing from the record
	regains                  // and from here on none is, until the next loses
)

// event is one step of the sweep.
type event struct {
	at    int64 // ticks
	kind  eventKind
	f     *flight // of starts and ends; nil for the others
	until int64   // ticks: of tears, when it was over
}

// sweep turns the blocks of a record into events in the order of time. At equal
// times the closed intervals overlap, and the order is the one in which each
// check accuses least: spenders start, refusals start, refusals end, spenders
// end. It holds what later blocks may still precede, and the open intervals.
type sweep struct {
	tick    int64         // nanoseconds
	early   int64         // nanoseconds by which a decision may seem earlier than it was: the limiter's clock steps
	late    int64         // nanoseconds by which it may seem later: our clock steps
	free    []outage      // in which something else than the promise was declared
	wall    bool          // a limit may go by the wall clock by its own words
	moved   int64         // ticks: from here on nothing is counted, since that clock was moved
	linger  time.Duration // how long a server may still decide after we gave up
	keys    map[string]int32
	names   []string
	dates   dates
	pending []*flight // not started, sorted
	spare   []*flight // room to merge them in
	marks   []event   // tears, loses and regains that are not passed, in the order of time
	torn    int64     // ticks: requests that left since the last tears, up to here, are torn
	open    []*flight // heap of the open ones by end
	order   []*flight // the open ones by start, ended ones left in until they are first
	idle    []*flight // ended ones that nobody holds once the next block is there
	events  []event
}

func newSweep(tick time.Duration, early, late, linger time.Duration) *sweep {
	return &sweep{tick: int64(tick), early: int64(early), late: int64(late), linger: linger,
		keys: map[string]int32{}, torn: math.MinInt64, moved: math.MaxInt64}
}

// block takes in a block and returns the events that are now settled. They are
// valid until the next call, and so are their flights but for those in flight: the
// next requests are put in their place, which spares the memory of a long record.
func (s *sweep) block(b results.Block) []event {
	for _, m := range b.Marks {
		s.mark(m)
	}
	known := len(s.pending)
	fresh := make([]flight, max(len(b.Hits)-len(s.idle), 0))
	for i := range b.Hits {
		var f *flight
		if n := len(s.idle) - 1; n >= 0 {
			f, s.idle = s.idle[n], s.idle[:n]
			*f = flight{}
		} else {
			f, fresh = &fresh[0], fresh[1:]
		}
		s.interval(f, &b.Hits[i])
		s.pending = append(s.pending, f)
	}
	s.merge(known)
	s.events = s.events[:0]
	s.release(floorDiv(b.Low-s.early, s.tick))
	return s.events
}

// merge puts the pending ones in order, of which the first are. There may be many
// of these, where some request is long under way.
func (s *sweep) merge(known int) {
	slices.SortFunc(s.pending[known:], byStart)
	if known == 0 || known == len(s.pending) || byStart(s.pending[known-1], s.pending[known]) <= 0 {
		return
	}
	first := sort.Search(known, func(i int) bool { return byStart(s.pending[i], s.pending[known]) > 0 })
	s.spare = append(s.spare[:0], s.pending[first:known]...)
	a, b := s.spare, s.pending[known:]
	for to := first; len(a) > 0; to++ {
		if len(b) > 0 && byStart(b[0], a[0]) < 0 {
			s.pending[to], b = b[0], b[1:]
		} else {
			s.pending[to], a = a[0], a[1:]
		}
	}
}

// close returns the events that are left.
func (s *sweep) close() []event {
	s.events = s.events[:0]
	s.release(math.MaxInt64)
	return s.events
}

func (s *sweep) interval(f *flight, h *results.Hit) {
	f.hit = h
	f.key = s.index(h.Key)
	f.seq, f.cost, f.outcome = h.Seq, h.Cost, h.Outcome
	f.date = s.dates.seconds(h.Date)
	f.from = floorDiv(h.Sent-s.early, s.tick)
	f.done = s.up(h.Done, 0)
	if h.Answered() && h.Outcome != results.Unknown {
		f.to = s.up(h.First, 0)
	} else { // a gateway answers 5xx while what is behind it is still at the request
		f.to = s.up(h.Done, int64(s.linger))
		f.done = f.to
	}
	f.to = max(f.to, f.from)
	s.freed(f)
	if f.outcome == results.Limited {
		f.asks = h.Asks()
	}
}

// endOfTime is the latest moment there is, in ticks: so late that nothing is
// after it, and so early that sums of two do not overflow.
const endOfTime = 1 << 61

// up is a moment in ticks, rounded up, as late as our clock may have been off.
func (s *sweep) up(ns, more int64) int64 {
	if ns > endOfTime-more-s.late-s.tick {
		return endOfTime
	}
	return -floorDiv(-(ns + more + s.late), s.tick)
}

func (s *sweep) index(key string) int32 {
	i, ok := s.keys[key]
	if !ok {
		i = int32(len(s.names))
		s.keys[key] = i
		s.names = append(s.names, key)
	}
	return i
}

// release emits all that happens before low: nothing that is still to come
// starts earlier.
func (s *sweep) release(low int64) {
	n := 0
	for ; n < len(s.pending) && (s.pending[n].from < low || low == math.MaxInt64); n++ {
		f := s.pending[n]
		s.markBefore(f.from)
		s.endBefore(f.from)
		f.torn = f.from <= s.torn
		s.events = append(s.events, event{at: f.from, kind: starts, f: f})
		s.push(f)
		s.order = append(s.order, f)
	}
	s.pending = append(s.pending[:0], s.pending[n:]...)
	s.markBefore(low)
	s.endBefore(low)
	for low == math.MaxInt64 && len(s.open) > 0 {
		s.pop()
	}
}

func (s *sweep) endBefore(t int64) {
	for len(s.open) > 0 && s.open[0].to < t {
		s.pop()
	}
}

// mark takes in a mark that changes what may be concluded.
func (s *sweep) mark(m results.Mark) {
	from := floorDiv(m.At-s.early, s.tick)
	to := s.up(m.To, 0)
	switch {
	case m.Tears():
		s.marks = append(s.marks, event{at: from, kind: tears, until: to})
	case m.Kind == results.MarkClock && s.wall:
		s.displace(from)
	case m.Kind == results.MarkFault && m.Free != "":
		s.declare(m, from, to)
	case m.Kind == results.MarkLost:
		to = min(endOfTime, to+int64(s.linger)/s.tick+1) // a lost request may be one that was given up
		s.marks = append(s.marks, event{at: from, kind: loses, until: math.MinInt64}, event{at: to, kind: regains, until: math.MinInt64})
	}
	slices.SortStableFunc(s.marks, func(a, b event) int { return cmp.Compare(a.at, b.at) })
}

// markBefore emits the marks before t.
func (s *sweep) markBefore(t int64) {
	for len(s.marks) > 0 && s.marks[0].at < t {
		m := s.marks[0]
		s.endBefore(m.at)
		s.torn = max(s.torn, m.until)
		s.events = append(s.events, m)
		s.marks = s.marks[1:]
	}
}

// oldest is the start of the oldest request that has not ended, in ticks.
func (s *sweep) oldest() int64 {
	n := 0
	for n < len(s.order) && s.order[n].ended {
		n++
	}
	s.idle = append(s.idle, s.order[:n]...)
	s.order = append(s.order[:0], s.order[n:]...)
	switch {
	case len(s.order) > 0:
		return s.order[0].from
	case len(s.pending) > 0:
		return s.pending[0].from
	}
	return math.MaxInt64
}

func byStart(a, b *flight) int {
	if a.from != b.from {
		return cmp.Compare(a.from, b.from)
	}
	if a.spends() != b.spends() {
		if a.spends() {
			return -1
		}
		return 1
	}
	return cmp.Compare(a.hit.Seq, b.hit.Seq)
}

// endsFirst orders the heap of open intervals.
func endsFirst(a, b *flight) bool {
	if a.to != b.to {
		return a.to < b.to
	}
	return !a.spends() && b.spends()
}

func (s *sweep) push(f *flight) {
	h := append(s.open, f)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !endsFirst(h[i], h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
	s.open = h
}

func (s *sweep) pop() {
	h := s.open
	f := h[0]
	s.events = append(s.events, event{at: f.to, kind: ends, f: f})
	f.ended = true
	n := len(h) - 1
	h[0], h[n] = h[n], nil
	h = h[:n]
	for i := 0; ; {
		c := 2*i + 1
		if c+1 < n && endsFirst(h[c+1], h[c]) {
			c++
		}
		if c >= n || !endsFirst(h[c], h[i]) {
			break
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
	s.open = h
}

// floorDiv is a/b rounded down, b positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
