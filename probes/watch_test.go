package probes

import (
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
)

func TestCompareClocks(t *testing.T) {
	const ms = int64(time.Millisecond)
	tests := []struct {
		name             string
		mono, wall, boot int64 // how far each went on, in ms
		want             []results.Mark
	}{
		{"all is well", 10, 10, 10, nil},
		{"a late beat", 90, 90, 90, nil},
		{"hammer did not run", 1010, 1010, 1010, []results.Mark{{Kind: results.MarkStall, Size: 1000 * ms}}},
		{"the machine was suspended", 10, 3_600_010, 3_600_010, []results.Mark{{Kind: results.MarkSleep, Size: 3_600_000 * ms}}},
		{"suspended, and the wall clock was set right", 10, 3_600_110, 3_600_010, []results.Mark{{Kind: results.MarkSleep, Size: 3_600_000 * ms}, {Kind: results.MarkWall, Size: 100 * ms}}},
		{"the wall clock went back", 10, -990, 10, []results.Mark{{Kind: results.MarkWall, Size: -1000 * ms}}},
		{"the wall clock went on", 10, 510, 10, []results.Mark{{Kind: results.MarkWall, Size: 500 * ms}}},
		{"a slewed wall clock", 10, 11, 10, nil},
	}
	for _, tt := range tests {
		a := clocks{mono: 5 * ms, wall: 1e18, boot: 9e15}
		b := clocks{mono: a.mono + tt.mono*ms, wall: a.wall + tt.wall*ms, boot: a.boot + tt.boot*ms}
		for i := range tt.want {
			tt.want[i].At, tt.want[i].To = a.mono, b.mono
		}
		if got := compare(a, b); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// A suspension tears the record, and so does a wall clock that jumped forward,
// since a paused virtual machine shows as one; a step back does not.
func TestWhichMarksTear(t *testing.T) {
	tests := []struct {
		mark results.Mark
		want bool
	}{
		{results.Mark{Kind: results.MarkSleep, Size: 1}, true},
		{results.Mark{Kind: results.MarkWall, Size: 1}, true},
		{results.Mark{Kind: results.MarkWall, Size: -1}, false},
		{results.Mark{Kind: results.MarkStall, Size: 1}, false},
	}
	for _, tt := range tests {
		if got := tt.mark.Tears(); got != tt.want {
			t.Errorf("%+v: got %v, want %v", tt.mark, got, tt.want)
		}
	}
}

func TestTick(t *testing.T) {
	if tick := Tick(); tick <= 0 || tick > 20*time.Millisecond {
		t.Errorf("got a tick of %v", tick)
	}
}
