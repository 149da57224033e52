package defect

import (
	"fmt"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/scenarios"
)

func calendarForms() kind {
	return kind{
		Doc: mode.Doc{
			Name:     "calendar",
			Settings: "form=utc|repeat|nominal-24h",
			Example:  "calendar{form=utc}",
			Text:     "The quota of a day or month turns over at the wrong moment: at midnight UTC (utc), at every request once it is another day in UTC (repeat), or after 24 hours, or 30 days of them, whatever the clocks show (nominal-24h).",
		},
		rows:    []string{"D17"},
		stage:   rebuilds,
		unseen:  "a day's quota turns over once a day, and no run lasts that long",
		on:      On{Limit: "calendar{quota=10,per=day,zone=Europe/Berlin}"},
		reports: []string{"labring/aiproxy PR 640", "diegosouzapw/OmniRoute PR 13671", "james-6-23/codex2api issue 498"},
		apply: func(p *Parts, r *mode.Reader) error {
			form := r.Choice("form", "", "utc", "repeat", "nominal-24h")
			if err := r.Done(); err != nil {
				return err
			}
			c, ok := p.Algorithm.(*limiter.Calendar)
			if !ok || c.Zone() == time.UTC {
				return fmt.Errorf("calendar: is a defect of calendars of other zones than UTC, such as calendar{quota=10,per=day,zone=Europe/Berlin}")
			}
			wrong, err := misdated(c, form, p.Clock.Base())
			if err != nil {
				return fmt.Errorf("calendar: %w", err)
			}
			p.Algorithm = wrong
			return nil
		},
	}
}

func misdated(c *limiter.Calendar, form string, base time.Time) (limiter.Algorithm, error) {
	promise := c.Promise()
	switch form {
	case "utc":
		utc, err := limiter.NewCalendar(promise.Rate.Count, c.Per(), time.UTC)
		return mislabelled{Algorithm: utc, promise: promise}, err
	case "repeat":
		return repeating{around{c}, c}, nil
	}
	length := 24 * time.Hour
	if c.Per() == limiter.Month {
		length *= 30
	}
	w, err := limiter.NewFixedWindow(scenarios.Rate{Count: promise.Rate.Count, Per: length}, limiter.Start)
	if err != nil {
		return nil, err
	}
	// From the midnight, or the first of the month, before the server was started.
	first := c.Page(base.UnixNano()).Start
	return mislabelled{Algorithm: w.Start(first), promise: promise}, nil
}

// repeating is a calendar that compares dates in UTC to see whether a period is
// over, and then counts anew, but keeps the beginning of the period: so it finds
// the same at the next request.
type repeating struct {
	around
	calendar *limiter.Calendar
}

func (r repeating) Decide(s limiter.State, now, cost int64) (limiter.Decision, error) {
	k := s.(*limiter.Page)
	was := *k
	r.compare(k, now)
	d, err := r.Algorithm.Decide(s, now, cost)
	if err != nil {
		*k = was
	}
	return d, err
}

func (r repeating) View(s limiter.State, now int64) limiter.Decision {
	k := *s.(*limiter.Page)
	r.compare(&k, now)
	return r.Algorithm.View(&k, now)
}

func (r repeating) compare(k *limiter.Page, now int64) {
	began, is := time.Unix(0, k.Start).UTC(), time.Unix(0, now).UTC()
	other := began.YearDay() != is.YearDay() || began.Year() != is.Year()
	if r.calendar.Per() == limiter.Month {
		other = began.Month() != is.Month() || began.Year() != is.Year()
	}
	if other && now > k.Start {
		k.Count = 0
	}
}
