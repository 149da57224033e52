package defect

import (
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/clock"
)

// What the steps of a wall clock do to each way of going by it: b = 20 and
// r = 10/s, or 20 in windows of 2 s. One key asks every 25 ms, and the clock steps
// after 5 s, 0.675 s into a window. Told are what is admitted in 40 s less what is
// without a step, and the longest time in which nothing is.
//
// The strobe sets the clock back by 1 s and forth again, each for 250 ms, 21 times.
// What it hands out where each other window counts anew depends on where in a window
// it begins: 100 to 230.
func TestClockTable(t *testing.T) {
	const silent = -1 // not looked at: as without a step, or nearly
	type cell struct {
		more    int
		silence float64 // seconds, to a tenth
	}
	tests := []struct {
		limit, defect            string
		back2, back10, forth2, s cell
	}{
		{"token-bucket{burst=20,rate=10/s}", "wall-clock{form=naive}", cell{-20, 2.1}, cell{-100, 10.1}, cell{19, silent}, cell{0, silent}},
		{"token-bucket{burst=20,rate=10/s}", "wall-clock{form=floor}", cell{-1, silent}, cell{-1, .2}, cell{19, silent}, cell{149, silent}},
		{"token-bucket{burst=20,rate=10/s}", "wall-clock{form=clamp}", cell{0, silent}, cell{0, silent}, cell{19, silent}, cell{205, silent}},
		{"token-bucket{burst=20,rate=10/s}", "wall-clock{form=max}", cell{-20, 2.1}, cell{-100, 10.1}, cell{19, silent}, cell{0, silent}},
		{"gcra{burst=20,rate=10/s}", "wall-clock", cell{-20, 2.1}, cell{-100, 10.1}, cell{19, silent}, cell{0, silent}},
		{"fixed-window{rate=20/2s}", "wall-clock{form=naive}", cell{20, silent}, cell{20, silent}, cell{20, silent}, cell{215, silent}},
		{"fixed-window{rate=20/2s}", "wall-clock{form=max}", cell{-20, 3.5}, cell{-100, 11.5}, cell{20, silent}, cell{0, silent}},
		{"fixed-window{rate=20/2s,align=first-hit}", "wall-clock", cell{-20, 3.5}, cell{-100, 11.5}, cell{20, silent}, cell{0, silent}},
		{"sliding-log{rate=20/2s}", "wall-clock", cell{-20, 3.5}, cell{-100, 11.5}, cell{20, silent}, cell{0, silent}},
		{"sliding-counter{rate=20/2s}", "wall-clock", cell{-19, 2.1}, cell{-95, 10.1}, cell{7, silent}, cell{0, silent}},
	}
	for _, tt := range tests {
		without, _ := saturate(t, tt.limit, tt.defect)
		for name, c := range map[string]struct {
			want  cell
			event clock.Event
		}{
			"-2 s": {tt.back2, stepAt(-2 * time.Second)}, "-10 s": {tt.back10, stepAt(-10 * time.Second)},
			"+2 s": {tt.forth2, stepAt(2 * time.Second)}, "strobe": {tt.s, strobed},
		} {
			admitted, silence := saturate(t, tt.limit, tt.defect, c.event)
			tenths := float64(silence/(100*time.Millisecond)) / 10 // of whole polls: 2.125 s are 2.1
			if admitted-without != c.want.more || c.want.silence != silent && tenths != c.want.silence {
				t.Errorf("%s %s, %s: got %+d and %v of silence, want %+v", tt.limit, tt.defect, name, admitted-without, silence, c.want)
			}
		}
	}
}

const stepMoment = 5 * time.Second

func stepAt(by time.Duration) clock.Event {
	return clock.Event{At: stepMoment, Action: clock.Step, By: by}
}

// strobed is back by 1 s for the first time at the moment of the steps, and for the
// 21st and last one 10 s later.
var strobed = clock.Event{At: stepMoment - 250*time.Millisecond, Action: clock.Strobe, By: -time.Second, Every: 250 * time.Millisecond, Times: 21}

// saturate asks for one key every 25 ms for 40 s, while its wall clock does as it is
// told.
func saturate(t *testing.T, limit, defect string, events ...clock.Event) (admitted int, silence time.Duration) {
	t.Helper()
	start := time.Date(2026, 3, 1, 12, 0, 1, 675_000_000, time.UTC)
	r := newRigAt(t, start, limit, defect)
	if err := r.parts.Clock.Schedule(events); err != nil {
		t.Fatal(err)
	}
	last := time.Duration(0)
	for ; r.now < 40*time.Second; r.now += 25 * time.Millisecond {
		if r.ask("a").Admitted {
			admitted++
			silence = max(silence, r.now-last)
			last = r.now
		}
	}
	return admitted, silence
}
