package assertions

import (
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// What hammer does to a clock, to a server or to itself is never told as a move of the
// server's clock, and what the server's clock does beside it is.
func TestServerClockWithOwnMoves(t *testing.T) {
	back := func(from time.Duration, by time.Duration) func(at time.Duration) time.Duration {
		return func(at time.Duration) time.Duration {
			if at > from {
				return at + by
			}
			return at
		}
	}
	mark := func(at time.Duration, kind results.MarkKind, act scenarios.Act, on string) results.Mark {
		return results.Mark{At: int64(at), To: int64(at + 5*time.Millisecond), Kind: kind, Act: string(act), On: on, Size: int64(-5 * time.Second)}
	}
	cached := func(of func(at time.Duration) time.Duration) func(at time.Duration) time.Duration {
		return func(at time.Duration) time.Duration { return of(at.Truncate(time.Second)) } // written anew at our seconds
	}
	const at = 12 * time.Second
	tests := []struct {
		name  string
		wall  func(at time.Duration) time.Duration
		marks []results.Mark
		want  string // in the finding; empty: there is none
	}{
		{"a step of ours", back(at, -5*time.Second), []results.Mark{mark(at-time.Millisecond, results.MarkClock, scenarios.ClockStep, "")}, ""},
		{"a step of ours, Date written once a second", cached(back(at, -5*time.Second)), []results.Mark{mark(at-time.Millisecond, results.MarkClock, scenarios.ClockStep, "")}, ""},
		{"a small step of ours", back(at, -500*time.Millisecond), []results.Mark{mark(at-time.Millisecond, results.MarkClock, scenarios.ClockStep, "")}, ""},
		{"taken back", back(at, -5*time.Second), []results.Mark{mark(at-time.Millisecond, results.MarkUndo, "", "")}, ""},
		{"frozen for 3 s", func(x time.Duration) time.Duration {
			return x - min(max(x-at, 0), 3*time.Second)
		}, []results.Mark{mark(at, results.MarkClock, scenarios.ClockFreeze, ""), mark(at+3*time.Second, results.MarkClock, scenarios.ClockResume, "")}, ""},
		{"slewed", func(x time.Duration) time.Duration { return x + max(x-at, 0)/10 }, []results.Mark{mark(at, results.MarkClock, scenarios.ClockSlew, "")}, ""},
		{"one worker of two", func(x time.Duration) time.Duration {
			if x > at && x/(20*time.Millisecond)%2 == 0 {
				return x - 5*time.Second
			}
			return x
		}, []results.Mark{mark(at-time.Millisecond, results.MarkClock, scenarios.ClockStep, "2")}, ""},
		{"a command", back(at, -time.Hour), []results.Mark{mark(at-time.Millisecond, results.MarkFault, scenarios.Command, "")}, ""},
		{"we were suspended", back(at, time.Hour), []results.Mark{mark(at-time.Millisecond, results.MarkSleep, "", "")}, ""},
		{"by itself, beside a step of ours", back(at, -5*time.Second), []results.Mark{mark(5*time.Second, results.MarkClock, scenarios.ClockStep, "")}, "by about -5 s between 12.0"},
		{"by itself, while the store's is stepped", back(at, -5*time.Second), []results.Mark{mark(at, results.MarkClock, scenarios.ClockStep, scenarios.OnStore)}, "by about -5 s between 12.0"},
		{"by itself, while ours was", back(at, -5*time.Second), []results.Mark{mark(at, results.MarkWall, "", "")}, "by about -5 s between 12.0"},
	}
	for _, tt := range tests {
		hits := datedBy(40*time.Second, tt.wall)
		// A mark is on record when it is over, so behind answers that came meanwhile.
		for _, late := range []bool{false, true} {
			w := newWallSeen()
			half := int(14 * time.Second / (20 * time.Millisecond))
			before, behind := tt.marks, []results.Mark(nil)
			if late {
				before, behind = nil, tt.marks
			}
			w.hear(hits[:half], before, int64(4*time.Second))
			w.hear(hits[half:], behind, results.Never)
			f, ok := w.tell()
			if ok != (tt.want != "") || !strings.Contains(f.Text, tt.want) {
				t.Errorf("%s: got %q, want %q", tt.name, f.Text, tt.want)
			}
		}
	}
}

// What happened to our own clocks is told, and changes no verdict.
func TestOwnClockIsTold(t *testing.T) {
	l := scenarios.Limit{Contract: scenarios.TokenBucket, Burst: 4, Rate: scenarios.Rate{Count: 4, Per: time.Second}, Slack: scenarios.DefaultSlack()}
	same := func(at time.Duration) time.Duration { return at }
	hits := saturated("a", 0, 6*time.Second, bucketOn(same))
	v := judgeMarked(t, l, hits, results.Mark{At: int64(time.Second), To: int64(1010 * time.Millisecond), Kind: results.MarkWall, Size: -int64(time.Hour)})
	if f := theFinding(v, CheckOwnClock); v.Status != results.Kept || !strings.Contains(f.Text, "own wall clock was moved by -60 min at 1.0") {
		t.Errorf("got %v, %q", v.Status, f.Text)
	}
	v = judgeMarked(t, l, hits, results.Mark{At: int64(time.Second), To: int64(1010 * time.Millisecond), Kind: results.MarkStuck, Text: "the guardian is gone"},
		results.Mark{At: 1, To: 2, Kind: results.MarkFault, Act: string(scenarios.ProcessReload), Text: "it is reloaded"})
	if f := theFinding(v, CheckActed); !strings.Contains(f.Text, "NOT TAKEN BACK: the guardian is gone") || strings.Contains(f.Text, "nothing of it lasted") {
		t.Errorf("got %q", f.Text)
	}
}

// theFinding is the one of a check; a zero one where there is none.
func theFinding(v results.Verdict, check string) (found results.Finding) {
	for _, f := range v.Findings {
		if f.Check == check {
			found = f
		}
	}
	return found
}
