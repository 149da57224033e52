package assertions

import (
	"math"
	"net/http"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

// dated is what the answers' Date says of the server's wall clock, which is what
// pins periods that begin at multiples of their length since 1970.
//
// Let the wall clock show t + ahead at our moment t. A Date of D seconds was made
// at a moment when it showed D to D+1s: between Sent and First, or up to a second
// before Sent, since servers keep the text of their Date for that long. So
//
//	D - First  <=  ahead  <=  D + 2s - Sent
//
// and of many answers the narrowest counts. Where none is left the Dates
// contradict each other: the clock was stepped, there are several, or answers come
// out of a cache. Then nothing is concluded from them.
//
// A Date is that of whoever answered, which need not be who counts: a proxy, or a
// server that counts in a database with a clock of its own. Two clocks that are
// kept right differ by far less than a second; one second is granted.
type dated struct {
	tick       int64 // nanoseconds
	drift      int64 // parts per million by which the server's clock may run differently
	origin     int64 // ticks: when ahead is asked for; drift grows from here
	since      int64 // ticks: requests that left earlier do not count
	low, high  int64 // nanoseconds: the least and the most that the wall clock is ahead
	some       bool  // a refusal had a Date; an admitted answer may come out of a cache, with one that is old
	contradict bool
}

const (
	second       = int64(time.Second)
	disagreement = second        // of the clock that counts and the one that Date is from
	endOfDates   = 4_102_444_800 // seconds since 1970: the year 2100, so that sums in nanoseconds do not overflow
)

func newDated(tick, drift int64) *dated {
	d := &dated{tick: tick, drift: drift}
	d.forget(0)
	d.since = math.MinInt64
	return d
}

// forget begins anew at t: moments before and after do not compare.
func (d *dated) forget(t int64) {
	d.origin, d.since, d.some = t, t, false
	d.low, d.high = math.MinInt64, math.MaxInt64
}

// hear takes in an answer.
func (d *dated) hear(b *brief) {
	if b.date == 0 || b.to >= endOfTime/d.tick || b.torn || b.from < d.since || b.outcome != results.Admitted && b.outcome != results.Limited {
		return
	}
	var blur int64
	if d.drift > 0 {
		blur = (share(max(abs(b.from-d.origin), abs(b.to-d.origin))+second/d.tick+1, d.drift) + 1) * d.tick
	}
	d.low = max(d.low, b.date*second-b.to*d.tick-blur)
	d.high = min(d.high, (b.date+2)*second-b.from*d.tick+blur)
	d.some = d.some || b.outcome == results.Limited
	d.contradict = d.contradict || d.low > d.high
}

// closed is a stretch of ticks, both ends included.
type closed struct{ lo, hi int64 }

// begins is a stretch in which a period begins, where periods begin at multiples of
// their length since 1970. It begins within a period from 0, and is how it would
// be if the clocks had not drifted since the origin; ok is false where any moment
// may be a beginning.
func (d *dated) begins(period time.Duration) (s closed, ok bool) {
	if d.contradict || !d.some || d.uncertain() >= int64(period) {
		return closed{}, false
	}
	from := mod(-(d.high + disagreement), int64(period))
	return closed{floorDiv(from, d.tick), -floorDiv(-(from + d.uncertain()), d.tick)}, true
}

// uncertain is how much of the clock that counts is not known, in nanoseconds.
func (d *dated) uncertain() int64 {
	if !d.some {
		return math.MaxInt64
	}
	return d.high - d.low + 2*disagreement
}

// tells says in words how well the beginnings of periods are known.
func (d *dated) tells(period time.Duration) string {
	switch _, ok := d.begins(period); {
	case ok:
		return "by the server's clock as Date shows it, to within " + duration(d.uncertain())
	case d.contradict:
		return "or anywhere, since the answers' Date headers contradict each other"
	case !d.some:
		return "or anywhere, since no refusal had a Date"
	}
	return "or anywhere, since Date shows the server's clock to within no less than " + duration(d.uncertain())
}

// begins is where periods of a theory begin, if it and the sample know that; nil:
// anywhere. A phase that is searched for is that of one beginning, at most a
// period and what is not known of it from the origin, and may have drifted so far.
func (s *sample) begins(c *court, t *theory) *closed {
	if t.epoch == 0 {
		return nil
	}
	d := s.dated(c)
	x, ok := d.begins(t.epoch)
	if !ok {
		return nil
	}
	drifted := share(x.hi, d.drift) + 1
	return &closed{x.lo - drifted, x.hi + drifted}
}

// dated is what the sample's answers say of the server's clock, and, where all of
// the record contradicts itself, that.
func (s *sample) dated(c *court) *dated {
	d := newDated(s.tick, c.dated.drift)
	d.contradict = c.dated.contradict
	for i := range s.hits {
		if b := &s.hits[i].brief; !s.full || b.to < s.until { // later ones may have been under way when our clock stood still
			d.hear(b)
		}
	}
	return d
}

// dates reads HTTP dates, of which many in a row are the same.
type dates struct {
	text  string
	value int64
}

// seconds is a Date in seconds since 1970; 0: there is none that can be read.
func (d *dates) seconds(text string) int64 {
	if text == d.text {
		return d.value
	}
	d.text, d.value = text, 0
	if at, err := http.ParseTime(text); err == nil && at.Unix() > 0 && at.Unix() < endOfDates {
		d.value = at.Unix()
	}
	return d.value
}
