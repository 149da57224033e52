package limiter

import (
	"math/rand/v2"
	"testing"
	"time"
)

func newCalendar(t *testing.T, per Period, zone string) (*Calendar, *time.Location) {
	t.Helper()
	z, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCalendar(10, per, z)
	if err != nil {
		t.Fatal(err)
	}
	return c, z
}

// Days where clocks are changed, by the wall clock of the zone.
func TestCalendarPeriods(t *testing.T) {
	tests := []struct {
		zone   string
		per    Period
		in     string // a moment in UTC
		start  string // in UTC
		length time.Duration
	}{
		{"UTC", Day, "2026-03-29 12:00", "2026-03-29 00:00", 24 * time.Hour},
		{"Europe/Berlin", Day, "2026-01-10 23:30", "2026-01-10 23:00", 24 * time.Hour},
		{"Europe/Berlin", Day, "2026-03-29 12:00", "2026-03-28 23:00", 23 * time.Hour},
		{"Europe/Berlin", Day, "2026-10-25 12:00", "2026-10-24 22:00", 25 * time.Hour},
		{"Europe/Berlin", Month, "2026-02-15 00:00", "2026-01-31 23:00", 28 * 24 * time.Hour},
		{"Europe/Berlin", Month, "2026-03-15 00:00", "2026-02-28 23:00", 31*24*time.Hour - time.Hour},
		{"Europe/Berlin", Month, "2026-10-31 12:00", "2026-09-30 22:00", 31*24*time.Hour + time.Hour},
		// The year turns.
		{"Europe/Berlin", Month, "2026-12-31 22:59", "2026-11-30 23:00", 31 * 24 * time.Hour},
		{"Asia/Shanghai", Day, "2026-06-01 16:00", "2026-06-01 16:00", 24 * time.Hour},
		{"Australia/Lord_Howe", Day, "2026-04-05 00:00", "2026-04-04 13:00", 24*time.Hour + 30*time.Minute},
		// In Beirut clocks go from 00:00 to 01:00: the day begins at 01:00.
		{"Asia/Beirut", Day, "2026-03-28 23:00", "2026-03-28 22:00", 23 * time.Hour},
		// In Havana they go from 01:00 to 00:00: midnight is there twice, and counts once.
		{"America/Havana", Day, "2026-11-01 05:30", "2026-11-01 04:00", 25 * time.Hour},
		// In São Paulo they went from 24:00 to 23:00 of the same day, which so had 25 hours.
		{"America/Sao_Paulo", Day, "2018-02-18 02:30", "2018-02-17 02:00", 25 * time.Hour},
		// In St. John's from 00:01 to 23:01: the new day had begun, and does not begin again.
		{"America/St_Johns", Day, "2010-11-07 02:45", "2010-11-07 02:30", 25 * time.Hour},
		// Samoa had no 30 December 2011.
		{"Pacific/Apia", Day, "2011-12-30 12:00", "2011-12-30 10:00", 24 * time.Hour},
		{"Pacific/Apia", Day, "2011-12-30 09:59", "2011-12-29 10:00", 24 * time.Hour},
	}
	for _, tt := range tests {
		c, _ := newCalendar(t, tt.per, tt.zone)
		at := func(s string) time.Time {
			m, err := time.Parse("2006-01-02 15:04", s)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		page := c.Page(at(tt.in).UnixNano())
		if start, length := time.Unix(0, page.Start).UTC(), time.Duration(page.End-page.Start); !start.Equal(at(tt.start)) || length != tt.length {
			t.Errorf("%s, %s of %s: got %v for %v, want %s for %v", tt.zone, tt.per, tt.in, start, length, tt.start, tt.length)
		}
	}
}

// Periods follow each other without a gap, hold the moments that they are of, and
// are no longer and no shorter than is promised.
func TestCalendarPeriodsTile(t *testing.T) {
	for _, zone := range []string{"UTC", "Europe/Berlin", "Asia/Beirut", "America/Havana", "America/St_Johns", "America/Sao_Paulo", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kathmandu"} {
		for _, per := range []Period{Day, Month} {
			c, z := newCalendar(t, per, zone)
			p := c.Promise()
			shortest := p.Rate.Per - p.Rate.Per/1_000_000*time.Duration(p.Slack.Over)
			longest := p.Rate.Per + p.Rate.Per/1_000_000*time.Duration(p.Slack.Under)
			odd := rand.New(rand.NewPCG(1, 2))
			now := time.Date(2008, 1, 1, 0, 0, 0, 0, z).UnixNano()
			for page := c.Page(now); page.Start < time.Date(2030, 1, 1, 0, 0, 0, 0, z).UnixNano(); {
				if length := time.Duration(page.End - page.Start); length < shortest || length > longest {
					t.Fatalf("%s: the %s from %v has %v, want %v to %v", zone, per, time.Unix(0, page.Start).In(z), length, shortest, longest)
				}
				if within := page.Start + odd.Int64N(page.End-page.Start); c.Page(within) != page || c.Page(page.End-1) != page {
					t.Fatalf("%s: %v is not in its own %s, %v", zone, time.Unix(0, within).In(z), per, page)
				}
				next := c.Page(page.End)
				if next.Start != page.End {
					t.Fatalf("%s: the %s after that from %v begins at %v", zone, per, time.Unix(0, page.Start).In(z), time.Unix(0, next.Start).In(z))
				}
				page = next
			}
		}
	}
}

// One quota each day, whatever its length, and the wait is to its end.
func TestCalendarDecides(t *testing.T) {
	c, z := newCalendar(t, Day, "Europe/Berlin")
	at := func(day, hour, minute int) int64 { return time.Date(2026, 10, day, hour, minute, 0, 0, z).UnixNano() }
	s := c.Fresh(at(24, 12, 0))
	tests := []struct {
		now  int64
		left int64 // of 30 at once
		wait time.Duration
	}{
		{at(24, 12, 0), 10, 12 * time.Hour},
		{at(24, 23, 59), 0, time.Minute},
		{at(25, 0, 30), 10, 24*time.Hour + 30*time.Minute}, // of a day of 25 h
		{at(25, 23, 30), 0, 30 * time.Minute},
		{at(26, 0, 0), 10, 24 * time.Hour},
		{at(25, 12, 0), 0, 36 * time.Hour}, // a clock that went back
	}
	for _, tt := range tests {
		var admitted int64
		var last Decision
		for range 30 {
			d, err := c.Decide(s, tt.now, 1)
			if err != nil {
				t.Fatal(err)
			}
			if last = d; d.Admitted {
				admitted++
			}
		}
		if admitted != tt.left || last.Wait != tt.wait || last.Reset != tt.wait {
			t.Errorf("%v: got %d admitted and %+v, want %d and a wait of %v", time.Unix(0, tt.now).In(z), admitted, last, tt.left, tt.wait)
		}
	}
	if c.Forgettable(s, at(26, 12, 0)) || c.Forgettable(s, at(25, 12, 0)) || !c.Forgettable(s, at(27, 0, 0)) {
		t.Error("a key is forgotten before its day is over, or never")
	}
}

// What was spent stays spent when a quota or a zone is changed.
func TestCalendarIsCarried(t *testing.T) {
	from, z := newCalendar(t, Day, "Europe/Berlin")
	now := time.Date(2026, 6, 10, 12, 0, 0, 0, z).UnixNano()
	s := from.Fresh(now)
	for range 7 {
		if _, err := from.Decide(s, now, 1); err != nil {
			t.Fatal(err)
		}
	}
	for quota, want := range map[int64]int64{20: 13, 5: 0} {
		to, err := NewCalendar(quota, Day, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		next, ok := Carry(from, to, s, now)
		if d := to.View(next, now); !ok || d.Remaining != want {
			t.Errorf("to %d a day: got %+v, %v, want %d left", quota, d, ok, want)
		}
	}
}
