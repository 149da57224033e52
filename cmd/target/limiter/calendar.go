package limiter

import (
	"fmt"
	"time"
	_ "time/tzdata" // zones are known on every machine

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

// Calendar admits N tokens on each day, or in each month, of the calendar of a
// zone. A day has 23 or 25 hours where clocks are changed, and a month 28 to 31
// days. A key takes 24 bytes.
//
// In a closed window of length T > 0 it admits at most N * (ceil(T/P) + 1), where
// P is the shortest of its periods: a time of length T touches no more of them.
// A refusal is over after the longest of them. So it promises a fixed window of a
// length in the middle, as run by a clock that may be as much too fast or too
// slow as the shortest and the longest period differ from it: that is both true
// and as narrow as a promise of windows of one length can be.
type Calendar struct {
	promise scenarios.Limit
	per     Period
	zone    *time.Location
}

// Period is what a calendar counts in.
type Period string

// The periods.
const (
	Day   Period = "day"
	Month Period = "month"
)

// Page is the state of one key: 24 bytes, a period of the calendar and what was
// admitted in it.
type Page struct {
	Start int64 // nanoseconds since 1970: when it begins, the latest that was seen
	End   int64 // nanoseconds since 1970: when the next one does
	Count int64 // tokens admitted in it
}

// Clone is a copy.
func (k *Page) Clone() State {
	c := *k
	return &c
}

func calendar() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "calendar",
			Settings: "quota=TOKENS,per=day|month,zone=ZONE",
			Example:  "calendar{quota=10,per=day,zone=Europe/Berlin}",
			Text:     "Counts anew at midnight of each day, or of the first of each month, in a time zone; days of 23 and 25 hours are days.",
		},
		build: func(r *mode.Reader) (Algorithm, error) {
			quota, per := r.Int("quota"), r.Choice("per", "", string(Day), string(Month))
			zone, err := time.LoadLocation(r.TextOr("zone", "UTC"))
			r.Require(err == nil && zone != time.Local, "zone", "is not known, give a name such as Europe/Berlin or UTC")
			if err := r.Done(); err != nil {
				return nil, err
			}
			return made(NewCalendar(quota, Period(per), zone))
		},
	}
}

// NewCalendar admits quota tokens in each period of a zone. It returns an error
// if the quota is none.
func NewCalendar(quota int64, per Period, zone *time.Location) (*Calendar, error) {
	shortest, longest := per.lengths()
	if zone != time.UTC { // clocks may be changed by an hour
		shortest, longest = shortest-time.Hour, longest+time.Hour
	}
	length := (shortest + longest) / 2
	p := scenarios.Limit{Contract: scenarios.FixedWindow, Rate: scenarios.Rate{Count: quota, Per: length}}
	// Rounded up: the promise must not be narrower than the calendar.
	ppm := length / 1_000_000 // of whole seconds, exactly
	off := int64(((longest-shortest)/2 + ppm - 1) / ppm)
	p.Slack.Over, p.Slack.Under = off, off
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("calendar: %w", err)
	}
	return &Calendar{promise: p, per: per, zone: zone}, nil
}

func (p Period) lengths() (shortest, longest time.Duration) {
	const day = 24 * time.Hour
	if p == Month {
		return 28 * day, 31 * day
	}
	return day, day
}

// Promise is a fixed window of about a period.
func (c *Calendar) Promise() scenarios.Limit { return c.promise }

// Per is the period that is counted in.
func (c *Calendar) Per() Period { return c.per }

// Zone is the zone whose calendar it is.
func (c *Calendar) Zone() *time.Location { return c.zone }

// Page is the period of a moment, with nothing admitted in it.
func (c *Calendar) Page(now int64) Page {
	y, m, d := time.Unix(0, now).In(c.zone).Date()
	if c.per == Month {
		d = 1
	}
	start, end := c.begins(y, m, d, 0), c.begins(y, m, d, 1)
	if end <= now { // a clock that went back over midnight shows the old date again
		start, end = end, c.begins(y, m, d, 2)
	}
	return Page{Start: start, End: end}
}

// begins is when the n-th period after the one of a date begins: the first moment
// at which the clocks of the zone show its midnight, or later if they jump over
// it.
func (c *Calendar) begins(y int, m time.Month, d, n int) int64 {
	if c.per == Month {
		m += time.Month(n)
	} else {
		d += n
	}
	// What they show is looked up in UTC, where no midnight is missing or twice.
	midnight := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	at := midnight.Add(-48 * time.Hour) // earlier in every zone
	for {
		at = at.In(c.zone)
		_, offset := at.Zone()
		_, changes := at.ZoneBounds()
		shown := midnight.Add(-time.Duration(offset) * time.Second)
		if changes.IsZero() || shown.Before(changes) {
			if shown.Before(at) {
				return at.UnixNano()
			}
			return shown.UnixNano()
		}
		at = changes
	}
}

// Fresh has admitted nothing.
func (c *Calendar) Fresh(now int64) State {
	k := c.Page(now)
	return &k
}

// Decide admits what there is room for in the period.
func (c *Calendar) Decide(s State, now, cost int64) (d Decision, err error) {
	most := c.promise.Rate.Count
	if cost < 1 || cost > most {
		return d, &CostError{Cost: cost, Most: most}
	}
	k := s.(*Page)
	c.turn(k, now)
	before := k.Count
	if d.Admitted = before <= most-cost; d.Admitted {
		k.Count += cost
	}
	c.tell(&d, before, k, now)
	if !d.Admitted {
		d.Wait = d.Reset
	}
	return d, nil
}

// View looks at the period of now.
func (c *Calendar) View(s State, now int64) (d Decision) {
	k := *s.(*Page)
	c.turn(&k, now)
	c.tell(&d, k.Count, &k, now)
	return d
}

// tell fills in the figures of a key that had spent so many tokens before.
func (c *Calendar) tell(d *Decision, before int64, k *Page, now int64) {
	most := c.promise.Rate.Count
	d.Before, d.After, d.Unit, d.Limit = most-before, most-k.Count, 1, most
	d.Remaining = d.After
	if k.Count > 0 {
		d.Reset = time.Duration(k.End - now)
	}
}

// turn goes on to the period of now. A now in an earlier one is taken for a
// moment of the latest that was seen.
func (c *Calendar) turn(k *Page, now int64) {
	if now >= k.End {
		*k = c.Page(now)
	}
}

// Forgettable reports whether nothing was admitted in the period of now, and none
// was seen later.
func (c *Calendar) Forgettable(s State, now int64) bool {
	k := s.(*Page)
	return now >= k.End || now >= k.Start && k.Count == 0
}
