package defect

import (
	"testing"
	"time"
)

// Ten a day in Berlin. A key sends all it can at a first moment and 30 at a second.
func TestCalendarForms(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(month time.Month, day, hour, minute int) time.Time {
		return time.Date(2026, month, day, hour, minute, 0, 0, berlin)
	}
	tests := []struct {
		name          string
		form          string
		first, second time.Time
		right, wrong  int // of the 30
	}{
		{"over UTC midnight, within a day", "utc", at(6, 10, 1, 30), at(6, 10, 2, 30), 0, 10},
		{"over midnight, within a day of UTC", "utc", at(6, 10, 23, 30), at(6, 11, 0, 30), 10, 0},
		{"after UTC midnight", "repeat", at(6, 10, 0, 30), at(6, 10, 3, 0), 0, 30},
		{"at the end of a day", "repeat", at(6, 10, 12, 0), at(6, 10, 23, 59), 0, 30},
		{"before UTC midnight", "repeat", at(6, 10, 0, 30), at(6, 10, 1, 30), 0, 0},
		{"on a day of 25 h", "nominal-24h", at(10, 25, 12, 0), at(10, 25, 23, 30), 0, 10},
		{"after a day of 23 h", "nominal-24h", at(3, 29, 12, 0), at(3, 30, 0, 30), 10, 0},
		{"before clocks are changed", "nominal-24h", at(3, 27, 12, 0), at(3, 28, 0, 30), 10, 10},
	}
	for _, tt := range tests {
		for _, defects := range [][]string{nil, {"calendar{form=" + tt.form + "}"}} {
			// It was started a week before.
			r := newRigAt(t, tt.first.AddDate(0, 0, -7), "calendar{quota=10,per=day,zone=Europe/Berlin}", defects...)
			want := tt.right
			if defects != nil {
				want = tt.wrong
			}
			r.now = tt.first.Sub(r.parts.Clock.Base())
			r.volley("a", 30)
			r.now = tt.second.Sub(r.parts.Clock.Base())
			if got := r.volley("a", 30); got != want {
				t.Errorf("%s, %v: got %d at %v, want %d", tt.name, defects, got, tt.second, want)
			}
		}
	}
}

// And months: 31 October has an hour that 30 days from the first do not reach.
func TestCalendarFormsOfMonths(t *testing.T) {
	for want, defects := range map[int][]string{0: nil, 10: {"calendar{form=nominal-24h}"}} {
		r := newRig(t, "calendar{quota=10,per=month,zone=Europe/Berlin}", defects...)
		r.now = 24 * time.Hour // 2 March
		r.volley("a", 30)
		r.now = 30 * 24 * time.Hour // 31 March
		if got := r.volley("a", 30); got != want {
			t.Errorf("%v: got %d in the same month, want %d", defects, got, want)
		}
	}
}
