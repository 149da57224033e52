package scenarios

import (
	"slices"
	"testing"
	"time"
)

// Of two plans for two servers either is second at every other moment, both keep their
// order, and what leaves together still does.
func TestStaggered(t *testing.T) {
	const ms = int64(time.Millisecond)
	plan := Plan{Length: time.Second}
	var shots []Shot
	for i, at := range []int64{0, 0, 10 * ms, 10*ms + 2, 20 * ms} {
		shots = append(shots, Shot{Seq: int64(i + 1), At: at})
	}
	plan.Shots = ShotsOf(shots)
	tests := []struct {
		name  string
		first bool
		want  []int64
	}{
		{"later at the first moment", true, []int64{ms, ms, 10 * ms, 10*ms + 2 + ms, 20 * ms}},
		{"later at the second", false, []int64{0, 0, 10*ms + 1, 10*ms + 2, 21 * ms}}, // half of the 2 ns to the next
	}
	for _, tt := range tests {
		got := plan.Staggered(tt.first, time.Millisecond)
		var at []int64
		for s := range got.Shots.All() {
			at = append(at, s.At)
			if s.Seq != int64(len(at)) {
				t.Errorf("%s: the %d-th shot is %d", tt.name, len(at), s.Seq)
			}
		}
		if !slices.Equal(at, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, at, tt.want)
		}
		if got.Length != time.Second+time.Millisecond {
			t.Errorf("%s: the length is %v", tt.name, got.Length)
		}
	}
	if s, _ := plan.Shots.First(); s.At != 0 {
		t.Errorf("the plan itself was changed: %v", s)
	}
}
