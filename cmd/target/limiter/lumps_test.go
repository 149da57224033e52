package limiter

import (
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

func TestLumps(t *testing.T) {
	type turn struct {
		at       time.Duration
		asked    int
		admitted int
		left     int64
	}
	tests := []struct {
		name  string
		limit string
		turns []turn
	}{
		{"6 every 3 s, a turn a second: 7 and 2 left, refilled to 8 at the third, then 1 and 0", "lumps{burst=10,rate=6/3s,align=epoch}", []turn{
			{1 * time.Second, 3, 3, 7}, {2 * time.Second, 5, 5, 2}, {3 * time.Second, 7, 7, 1}, {4 * time.Second, 9, 1, 0},
		}},
		{"2 every 10 s: what is not there waits for the next mark", "lumps{burst=8,rate=2/10s}", []turn{
			{0, 5, 5, 3}, {time.Second, 5, 3, 0}, {10*time.Second - 1, 5, 0, 0}, {10 * time.Second, 5, 2, 0}, {19 * time.Second, 5, 0, 0}, {20 * time.Second, 5, 2, 0},
		}},
		{"2 every 2 s: after 10 s of rest 5 tokens and not 10", "lumps{burst=5,rate=2/2s}", []turn{
			{0, 5, 5, 0}, {2 * time.Second, 3, 2, 0}, {12 * time.Second, 10, 5, 0},
		}},
		{"lumps that nobody was there for come together", "lumps{burst=9,rate=2/s}", []turn{
			{0, 9, 9, 0}, {3700 * time.Millisecond, 9, 6, 0}, {3999 * time.Millisecond, 1, 0, 0}, {4 * time.Second, 9, 2, 0},
		}},
		{"the time to the first lump begins with the first token taken", "lumps{burst=2,rate=1/10s}", []turn{
			{7 * time.Second, 1, 1, 1}, {17*time.Second - 1, 2, 1, 0}, {17 * time.Second, 1, 1, 0}, {27 * time.Second, 1, 1, 0},
			{47 * time.Second, 0, 0, 2}, {52 * time.Second, 2, 2, 0}, {57 * time.Second, 1, 0, 0}, {62 * time.Second, 1, 1, 0},
		}},
	}
	for _, tt := range tests {
		l := build(t, tt.limit)
		s := l.Fresh(0)
		for i, turn := range tt.turns {
			if got := tally(t, l, s, turn.at, turn.asked); got != turn.admitted {
				t.Errorf("%s: turn %d: got %d of %d admitted, want %d", tt.name, i, got, turn.asked, turn.admitted)
			}
			if got := l.View(s, int64(turn.at)).Remaining; got != turn.left {
				t.Errorf("%s: turn %d: got %d left, want %d", tt.name, i, got, turn.left)
			}
		}
	}
}

// 6 every 3 s and 2 every 1 s have the same mean, and other short windows: just
// before and just after a lump 10 + 6 pass, or 10 + 2.
func TestLumpsOfTheSameMean(t *testing.T) {
	for _, tt := range []struct {
		limit string
		want  int // of 20 right after the lump at 3 s
	}{
		{"lumps{burst=10,rate=6/3s,align=epoch}", 6},
		{"lumps{burst=10,rate=2/s,align=epoch}", 2},
	} {
		l := build(t, tt.limit)
		s := l.Fresh(0)
		if before, after := tally(t, l, s, 3*time.Second-1, 20), tally(t, l, s, 3*time.Second, 20); before != 10 || after != tt.want {
			t.Errorf("%s: got %d and %d, want 10 and %d", tt.limit, before, after, tt.want)
		}
	}
}

// The longest wait that can be counted, and one that cannot.
func TestLumpsBeyondTime(t *testing.T) {
	if _, err := NewLumps(1_000_000_000, scenarios.Rate{Count: 1, Per: 365 * 24 * time.Hour}, FirstHit); err == nil {
		t.Error("a thousand million years to fill: got no error, want one")
	}
	l := build(t, "lumps{burst=170,rate=1/300d}")
	s := l.Fresh(0)
	if d, err := l.Decide(s, 0, 170); err != nil || !d.Admitted || d.Reset != 170*300*24*time.Hour {
		t.Errorf("got %+v, %v, want a reset in 51,000 days", d, err)
	}
}
