package limiter

import (
	"slices"
	"testing"
	"time"
)

// tally asks n times for one token and gives how many were admitted.
func tally(t testing.TB, a Algorithm, s State, at time.Duration, n int) (admitted int) {
	t.Helper()
	for range n {
		d, err := a.Decide(s, int64(at), 1)
		if err != nil {
			t.Fatal(err)
		}
		if d.Admitted {
			admitted++
		}
	}
	return admitted
}

// 100 a minute, 100 at 10:00:59.900 and 100 at 10:01:00.100: windows on the
// minute let both pass, 200 within 200 ms. One that was opened by the first hit
// does not, nor do the sliding ones.
func TestTwiceTheLimitAroundAnEdge(t *testing.T) {
	tests := []struct {
		limit string
		want  int // of the second 100
	}{
		{"fixed-window{rate=100/m}", 100},
		{"fixed-window{rate=100/m,align=start}", 100}, // which is as the epoch, until the start is known
		{"fixed-window{rate=100/m,align=first-hit}", 0},
		{"sliding-log{rate=100/m}", 0},
		// At 10:01:00.100 the previous 100 count (60-0.1)/60 = 99.83: 99.83 < 100, and 99.83 + 1 > 100.
		{"sliding-counter{rate=100/m}", 0},
		{"sliding-counter{rate=100/m,test=lt}", 1},
	}
	for _, tt := range tests {
		a := build(t, tt.limit)
		s := a.Fresh(int64(10 * time.Hour))
		if got := tally(t, a, s, 10*time.Hour+59_900*time.Millisecond, 100); got != 100 {
			t.Errorf("%s: got %d of the first 100, want all", tt.limit, got)
		}
		if got := tally(t, a, s, 10*time.Hour+60_100*time.Millisecond, 100); got != tt.want {
			t.Errorf("%s: got %d of the second 100, want %d", tt.limit, got, tt.want)
		}
	}
}

// A server that was started at 10:00:30 has its edges at half past.
func TestWindowsFromTheStart(t *testing.T) {
	for _, limit := range []string{"fixed-window{rate=5/m,align=start}", "sliding-counter{rate=5/m,align=start}", "lumps{burst=5,rate=5/m,align=start}"} {
		a := build(t, limit).(Starter).Start(int64(30 * time.Second))
		s := a.Fresh(int64(45 * time.Second))
		if got := tally(t, a, s, 45*time.Second, 6); got != 5 {
			t.Errorf("%s: got %d, want 5", limit, got)
		}
		d, _ := a.Decide(s, int64(60*time.Second), 1)
		// The counter has 5 * (60-e)/60 + 1 <= 5 from e = 12 s of the next window on.
		want := 30 * time.Second
		if _, isCounter := a.(*SlidingCounter); isCounter {
			want = 42 * time.Second
		}
		if d.Admitted || d.Wait != want {
			t.Errorf("%s: at the full minute: got %+v, want a wait of %v", limit, d, want)
		}
	}
	// What is aligned otherwise does not care.
	for _, limit := range []string{"fixed-window{rate=5/m}", "sliding-counter{rate=5/m}", "lumps{burst=5,rate=5/m,align=epoch}"} {
		a := build(t, limit).(Starter).Start(int64(30 * time.Second))
		s := a.Fresh(int64(45 * time.Second))
		tally(t, a, s, 45*time.Second, 5)
		if d := a.View(s, int64(45*time.Second)); d.Reset%(15*time.Second) != 0 {
			t.Errorf("%s: got a reset in %v, want it on the minute", limit, d.Reset)
		}
	}
}

// At 10:01:15 with 100 in the window before and 20 in this one the estimate is
// 100 * 45/60 + 20 = 95: five more, and then none.
func TestCounterEstimates(t *testing.T) {
	for _, test := range []string{"le", "lt"} {
		c := build(t, "sliding-counter{rate=100/m,test="+test+"}")
		at := int64(10*time.Hour + 75*time.Second)
		s := &Counter{Start: int64(10*time.Hour + time.Minute), Prev: 100, Cur: 20}
		if d := c.View(s, at); d.Remaining != 5 {
			t.Errorf("%s: got %d left, want 5", test, d.Remaining)
		}
		if got := tally(t, c, s, time.Duration(at), 10); got != 5 {
			t.Errorf("%s: got %d of 10, want 5", test, got)
		}
		// 100 * x + 25 + 1 <= 100 from 74 % on, which is 60 * 26 % = 15.6 s into the
		// window. Below asks 100 * x + 25 < 100, which is so a nanosecond later.
		want := 600 * time.Millisecond
		if test == "lt" {
			want = 1
		}
		if d, _ := c.Decide(s, at, 1); d.Admitted || d.Wait != want {
			t.Errorf("%s: got %+v, want a wait of %v", test, d, want)
		}
	}
}

// A window of the first hit opens with what is admitted, and what comes after
// its end opens another one.
func TestFirstHitWindows(t *testing.T) {
	w := build(t, "fixed-window{rate=2/10s,align=first-hit}")
	s := w.Fresh(0)
	got := []int{
		tally(t, w, s, 3*time.Second, 3),    // 2: open until 13 s
		tally(t, w, s, 13*time.Second-1, 1), // 0
		tally(t, w, s, 17*time.Second, 3),   // 2: open until 27 s
		tally(t, w, s, 27*time.Second, 1),   // 1
	}
	if want := []int{2, 0, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A refusal that is logged prolongs the wait: who asks every second of a log of
// 2 per 10 s is admitted twice and never again; who then is silent for 10 s is.
func TestLogOfRefusals(t *testing.T) {
	for _, tt := range []struct {
		limit string
		want  int // of 60 in a minute
	}{
		{"sliding-log{rate=2/10s}", 12},
		{"sliding-log{rate=2/10s,log-refused}", 2},
	} {
		l := build(t, tt.limit)
		s := l.Fresh(0)
		admitted := 0
		for i := range time.Duration(60) {
			admitted += tally(t, l, s, i*time.Second, 1)
		}
		if admitted != tt.want {
			t.Errorf("%s: got %d of 60 in a minute, want %d", tt.limit, admitted, tt.want)
		}
		if n := len(s.(*Log).live()); n > 2 {
			t.Errorf("%s: got %d entries for 2 tokens", tt.limit, n)
		}
		if got := tally(t, l, s, 69*time.Second, 1); got != 1 {
			t.Errorf("%s: refused after 10 s of silence", tt.limit)
		}
	}
}

// A log whose entries come and go keeps no more room than twice what it needs.
func TestLogStaysSmall(t *testing.T) {
	l := build(t, "sliding-log{rate=100/s}")
	s := l.Fresh(0)
	for i := range time.Duration(100_000) {
		if _, err := l.Decide(s, int64(i*10*time.Millisecond), 1); err != nil {
			t.Fatal(err)
		}
	}
	if k := s.(*Log); cap(k.Entries) > 400 || len(k.live()) != 100 {
		t.Errorf("got room for %d entries and %d of them, want 400 at most and 100", cap(k.Entries), len(k.live()))
	}
}
