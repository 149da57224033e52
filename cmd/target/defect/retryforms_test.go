package defect_test

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/dialect"
)

// Twelve twins are drained alike; each waits alone for another twelfth of what it
// was told. The earliest that is admitted brackets the true wait: it is the last
// one where that is told, and one of the first where it is told too late.
func TestRetryTooLate(t *testing.T) {
	tests := []struct {
		limit   string
		defects []string
		told    int64
		twin    int // of 1 to 12, the first to be admitted
	}{
		{"token-bucket{burst=10,rate=1/10s}", nil, 10, 12},
		{"token-bucket{burst=10,rate=1/10s}", []string{"ra{form=window}"}, 100, 2}, // at 16.7 s
		{"fixed-window{rate=10/10s,align=first-hit}", nil, 10, 12},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: tt.limit, defects: tt.defects})
		first := 0
		for twin := range 12 {
			key := fmt.Sprint(twin)
			s.count(0, 10, same(key))
			if got := s.header(s.ask(0, by(key)), "Retry-After"); got != tt.told {
				t.Errorf("%s %v: got Retry-After %d, want %d", tt.limit, tt.defects, got, tt.told)
			}
		}
		for twin := range 12 {
			at := time.Duration(tt.told) * time.Second * time.Duration(twin+1) / 12
			if s.count(at, 1, same(fmt.Sprint(twin))) == 1 && first == 0 {
				first = twin + 1
			}
		}
		if first != tt.twin {
			t.Errorf("%s %v: twin %d of 12 was admitted first, want %d", tt.limit, tt.defects, first, tt.twin)
		}
	}
}

// A token takes 10 s, and 5 of them have passed: right is 5, and 10 where the part
// that is there does not count.
func TestRetryFullInterval(t *testing.T) {
	for want, defects := range map[int64][]string{5: nil, 10: {"ra{form=full-interval}"}} {
		s := simulate(t, site{limit: "token-bucket{burst=3,rate=1/10s}", defects: defects})
		s.count(0, 3, same("a"))
		if got := s.header(s.ask(5*time.Second, by("a")), "Retry-After"); got != want {
			t.Errorf("%v: got %d, want %d", defects, got, want)
		}
	}
}

// obey asks until it is refused, comes back when it was told to, so many times,
// and counts how often it is refused again. It never asks in between. Its answers
// take a time to arrive.
func obey(s *sim, times int, latency time.Duration) (again int, waited time.Duration) {
	at, res := time.Duration(0), s.ask(0, by("a"))
	for turn := range times + 1 {
		if turn > 0 && res.StatusCode != http.StatusOK {
			again++
		}
		for res.StatusCode == http.StatusOK {
			res = s.ask(at, by("a"))
		}
		at += time.Duration(s.header(res, "Retry-After"))*time.Second + latency
		res = s.ask(at, by("a"))
	}
	return again, at
}

// Of 40 waits that are obeyed to the nanosecond none is refused again, or some: at
// 2/3s a token takes 1.5 s, and 1 s is told.
func TestRetryTooEarly(t *testing.T) {
	tests := []struct {
		defects []string
		latency time.Duration
		again   int
	}{
		{nil, 0, 0},
		{[]string{"ra{form=floor}"}, time.Millisecond, 40},
		{[]string{"ra{form=exclusive}"}, 0, 20}, // and admitted in between
		{[]string{"ra{form=exclusive}"}, 999 * time.Millisecond, 20},
		{[]string{"ra{form=exclusive,late=10ms}"}, 0, 20},
		{[]string{"ra{form=exclusive,late=10ms}"}, 10 * time.Millisecond, 20},
		{[]string{"ra{form=exclusive,late=10ms}"}, 11 * time.Millisecond, 0},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: "token-bucket{burst=10,rate=2/3s}", defects: tt.defects})
		if again, _ := obey(s, 40, tt.latency); again != tt.again {
			t.Errorf("%v after %v: got %d of 40 obeyed waits refused again, want %d", tt.defects, tt.latency, again, tt.again)
		}
	}
}

// Who obeys and is refused again is told an hour, which then is true: each other
// wait costs that much more.
func TestRetryPenalty(t *testing.T) {
	for _, form := range []string{"floor", "exclusive"} {
		s := simulate(t, site{limit: "token-bucket{burst=10,rate=2/3s}", defects: []string{"ra{form=" + form + ",penalty=1h}"}})
		again, waited := obey(s, 40, time.Millisecond)
		if again != 20 || waited < 20*time.Hour || waited > 20*time.Hour+2*time.Minute {
			t.Errorf("%s: got %d of 40 refused again, and %v waited, want 20 and 20 h", form, again, waited)
		}
		if got := s.count(waited+time.Second, 1, same("b")); got != 1 {
			t.Errorf("%s: another client is locked out too", form)
		}
	}
}

// All refusals of an overload of two minutes: the least and the most that they
// are told. At 1/3s the true wait is up to 3 s.
func TestRetryValues(t *testing.T) {
	epoch := start.Unix()
	tests := []struct {
		defects     []string
		least, most int64
	}{
		{nil, 1, 3},
		{[]string{"ra{form=zero}"}, 0, 0},
		{[]string{"ra{form=neg}"}, -3, -1},
		{[]string{"ra{form=neg-epoch}"}, 1 - epoch - 120, 3 - epoch},
		{[]string{"ra{form=ms}"}, 100, 3000},
		{[]string{"ra{form=epoch}"}, epoch + 3, epoch + 123},
		{[]string{"ra{form=floor}"}, 0, 3},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: "token-bucket{burst=2,rate=1/3s}", defects: tt.defects})
		least, most := int64(math.MaxInt64), int64(math.MinInt64)
		for at := time.Duration(0); at <= 2*time.Minute; at += 100 * time.Millisecond {
			if res := s.ask(at, by("a")); res.StatusCode == 429 {
				told := s.header(res, "Retry-After")
				least, most = min(least, told), max(most, told)
			}
		}
		// The first refusal comes 200 ms after the bucket was emptied, so that not
		// each extreme is met exactly.
		if least < tt.least || most > tt.most || least > tt.least+abs(tt.least)/10+2 || most < tt.most-abs(tt.most)/10-2 {
			t.Errorf("%v: got %d to %d, want about %d to %d", tt.defects, least, most, tt.least, tt.most)
		}
	}
}

func abs(n int64) int64 { return max(n, -n) }

// 50 clients whose windows of 5 s began 100 ms apart are refused at 5 s, and all
// come back when they were told. Of the slots of 100 ms in which they do, the
// fullest has ten times the mean where each is told its own wait, which is in whole
// seconds, and fifty times if all are told the same.
func TestRetryHerd(t *testing.T) {
	for want, defects := range map[int][]string{10: nil, 50: {"ra{form=common-deadline}"}} {
		for _, form := range []string{"seconds", "date"} {
			s := simulate(t, site{limit: "fixed-window{rate=1/5s,align=first-hit}", defects: defects, answers: dialect.Settings{RetryAfter: form}})
			const slot = 100 * time.Millisecond
			for i := range 50 {
				s.ask(time.Duration(i)*slot, by(fmt.Sprint(i)))
			}
			at := 4950 * time.Millisecond
			slots := map[time.Duration]int{}
			fullest := 0
			for i := range 50 {
				res := s.ask(at, by(fmt.Sprint(i)))
				back := returns(s, res, at, form)
				slots[back/slot]++
				fullest = max(fullest, slots[back/slot])
			}
			// 50 clients in the 50 slots of 5 s: the mean is 1.
			if fullest != want {
				t.Errorf("%v in %s: the fullest slot has %d, want %d", defects, form, fullest, want)
			}
		}
	}
}

// 50 clients are refused within one second, and all come back when they were told.
// A common moment brings them back together where dates are told: whole seconds
// from 50 different moments on spread them over one.
func TestRetryHerdOfOneSecond(t *testing.T) {
	tests := []struct {
		form    string
		defects []string
		fullest int // of the slots of 100 ms; the mean over the window of 5 s is 1
	}{
		{"seconds", nil, 5},
		{"date", nil, 10},
		{"seconds", []string{"ra{form=common-deadline}"}, 5},
		{"date", []string{"ra{form=common-deadline}"}, 50},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: "fixed-window{rate=1/5s,align=first-hit}", defects: tt.defects, answers: dialect.Settings{RetryAfter: tt.form}})
		for i := range 40 { // the last ten begin later, between refusals
			s.ask(time.Duration(i)*100*time.Millisecond, by(fmt.Sprint(i)))
		}
		slots, again := map[time.Duration]int{}, 0
		for i := range 50 {
			at := 4010*time.Millisecond + time.Duration(i)*20*time.Millisecond
			if i >= 40 {
				s.ask(at, by(fmt.Sprint(i)))
			}
			res := s.ask(at, by(fmt.Sprint(i)))
			if res.StatusCode == 429 {
				again++
			}
			slots[returns(s, res, at, tt.form)/(100*time.Millisecond)]++
		}
		fullest := slices.Max(slices.Collect(maps.Values(slots)))
		if again != 50 || fullest > tt.fullest || tt.defects != nil && fullest != tt.fullest {
			t.Errorf("%v in %s: %d refused and %d back in one slot, want 50 and %d", tt.defects, tt.form, again, fullest, tt.fullest)
		}
		t.Logf("%v in %s: %d in the fullest slot", tt.defects, tt.form, fullest)
	}
}

// returns is when a client comes back that was refused at a moment.
func returns(s *sim, res *http.Response, at time.Duration, form string) time.Duration {
	s.t.Helper()
	if form != "date" {
		return at + time.Duration(s.header(res, "Retry-After"))*time.Second
	}
	date, err := http.ParseTime(res.Header.Get("Retry-After"))
	if err != nil {
		s.t.Fatal(err)
	}
	return date.Sub(start)
}

// 1.5 s after 12:00:00 and 300 ms, in words. The right date is rounded up and
// ends in GMT.
func TestRetryDate(t *testing.T) {
	for want, defects := range map[string][]string{"Sun, 01 Mar 2026 12:00:02 GMT": nil, "Sun, 01 Mar 2026 12:00:01 UTC": {"ra{form=utc-zone}"}} {
		s := simulate(t, site{limit: "token-bucket{burst=1,rate=2/3s}", defects: defects, answers: dialect.Settings{RetryAfter: "date"}})
		s.ask(300*time.Millisecond, by("a"))
		if got := s.ask(300*time.Millisecond, by("a")).Header.Get("Retry-After"); got != want {
			t.Errorf("%v: got %s, want %s", defects, got, want)
		}
	}
	s := simulate(t, site{limit: "token-bucket{burst=1,rate=2/3s}", defects: []string{"ra{form=utc-zone}"}})
	s.ask(0, by("a"))
	if got := s.ask(0, by("a")).Header.Get("Retry-After"); strings.Contains(got, "UTC") {
		t.Errorf("got the date %s where seconds are declared", got)
	}
}
