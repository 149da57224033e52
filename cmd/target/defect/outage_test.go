package defect_test

import (
	"testing"
	"time"
)

// A steady overload of 100 requests a second for 5 s each before, while and after
// the store is cut off, on a limit of 10 and 1/s: of what is offered meanwhile
// nothing passes, as declared, or all of it.
func TestOutage(t *testing.T) {
	tests := []struct {
		declared string
		defects  []string
		during   int // of 500
	}{
		{"memory{down=closed}", nil, 0},
		{"memory{down=none}", nil, 0},
		{"memory{down=open}", nil, 500},
		{"memory{down=closed}", []string{"outage{policy=open}"}, 500},
		{"memory{down=none}", []string{"outage{policy=open}"}, 500},
		{"memory{down=open}", []string{"outage{policy=closed}"}, 0},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: "token-bucket{burst=10,rate=1/s}", store: tt.declared, defects: tt.defects})
		load := func(from time.Duration) (admitted int) {
			for i := range 500 {
				admitted += s.count(from+time.Duration(i)*10*time.Millisecond, 1, same("a"))
			}
			return admitted
		}
		before := load(0)
		s.Admin(5*time.Second, "POST", "/store/cut", "")
		during := load(5 * time.Second)
		s.Admin(10*time.Second, "POST", "/store/restore", "")
		after := load(10 * time.Second)
		// 10 and 4 more in 4.99 s; what 5 s have earned meanwhile is there afterwards.
		if before != 14 || during != tt.during || after != 10 {
			t.Errorf("%s %v: got %d, %d and %d admitted before, during and after, want 14, %d and 10", tt.declared, tt.defects, before, during, after, tt.during)
		}
	}
}
