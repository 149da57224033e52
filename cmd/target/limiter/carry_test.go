package limiter

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
)

func named(t *testing.T, text string) Algorithm {
	t.Helper()
	m, err := mode.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(m)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A state that is carried over to the same settings, or written down and read
// again, is decided on as it was.
func TestCarryToTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range List() {
		a := named(t, d.Example)
		for range 200 {
			now := int64(1_700_000_000e9)
			s := a.Fresh(now)
			for range rng.IntN(30) {
				now += rng.Int64N(int64(3 * time.Second))
				if _, err := a.Decide(s, now, 1); err != nil {
					t.Fatal(err)
				}
			}
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			read := a.Fresh(0)
			if err := json.Unmarshal(text, read); err != nil {
				t.Fatal(err)
			}
			_, carry := Succeed(a, a)
			carried, ok := carry(s, now)
			if !ok {
				if d.Name != "calendar" && !a.Forgettable(s, now) {
					t.Errorf("%s: %+v is not carried over", d.Name, s)
				}
				carried = s.Clone()
			}
			for range 20 {
				now += rng.Int64N(int64(2 * time.Second))
				want, _ := a.Decide(s, now, 1)
				for name, state := range map[string]State{"carried over": carried, "read": read} {
					if got, _ := a.Decide(state, now, 1); got != want {
						t.Fatalf("%s, %s: got %+v, want %+v", d.Name, name, got, want)
					}
				}
			}
		}
	}
}

// What becomes of a key when its limit changes: how many it is admitted of 100
// at once right after the change, and as many a second later.
func TestCarry(t *testing.T) {
	tests := []struct {
		from, to   string
		spent      int // before the change, a second after the start
		now, later int
	}{
		// 10-spent tokens and those of a second are left, at most the new burst; then
		// it goes on at the new rate.
		{"token-bucket{burst=10,rate=1/s}", "token-bucket{burst=20,rate=2/s}", 10, 1, 2},
		{"token-bucket{burst=10,rate=1/s}", "token-bucket{burst=20,rate=2/s}", 4, 7, 2},
		{"token-bucket{burst=20,rate=1/s}", "token-bucket{burst=10,rate=3/s}", 5, 10, 3},
		{"token-bucket{burst=20,rate=1/s}", "token-bucket{burst=10,rate=3/s}", 18, 3, 3},
		{"token-bucket{burst=10,rate=1/s}", "token-bucket{burst=20,rate=2/s}", 0, 20, 2}, // as if never used
		{"token-bucket{burst=10,rate=3/7s}", "token-bucket{burst=10,rate=7/3s}", 10, 0, 2},
		{"gcra{burst=10,rate=1/s}", "gcra{burst=20,rate=2/s}", 10, 1, 2},
		{"gcra{burst=20,rate=1/s}", "gcra{burst=10,rate=3/s}", 5, 10, 3},
		{"meter{burst=10,rate=1/s}", "meter{burst=20,rate=2/s}", 10, 1, 2},
		{"meter{burst=20,rate=1/s}", "meter{burst=10,rate=3/s}", 18, 3, 3},
		{"lumps{burst=20,rate=2/2s}", "lumps{burst=10,rate=5/1s}", 18, 2, 5},
		// 7 s are booked, of the 10 that one and 4 in the queue now take: one fits, and
		// a second later another.
		{"queue{burst=10,rate=1/s}", "queue{burst=4,rate=1/2s}", 8, 1, 1},
		// Counts stay.
		{"fixed-window{rate=10/1m}", "fixed-window{rate=20/1m}", 8, 12, 0},
		{"fixed-window{rate=20/1m}", "fixed-window{rate=10/1m}", 15, 0, 0},
		{"fixed-window{rate=10/1h}", "fixed-window{rate=10/1m}", 8, 2, 0},
		{"fixed-window{rate=10/1m,align=first-hit}", "fixed-window{rate=20/2s,align=first-hit}", 8, 12, 20},
		{"sliding-log{rate=10/1m}", "sliding-log{rate=20/1m}", 8, 12, 0},
		{"sliding-log{rate=20/1m}", "sliding-log{rate=10/2s}", 15, 0, 10},
		{"sliding-counter{rate=10/1m}", "sliding-counter{rate=20/1m}", 8, 12, 0},
		{"sliding-counter{rate=20/1m}", "sliding-counter{rate=20/1h}", 15, 5, 0},
		{"nginx{rate=1/s,burst=9,nodelay}", "nginx{rate=2/s,burst=19,nodelay}", 10, 1, 2},
		{"concurrency{burst=10}", "concurrency{burst=4}", 8, 0, 0},
		{"concurrency{burst=4}", "concurrency{burst=10}", 4, 6, 0},
		// Another algorithm is another limit.
		{"token-bucket{burst=10,rate=1/s}", "gcra{burst=5,rate=1/s}", 10, 5, 1},
	}
	for _, tt := range tests {
		from, to := named(t, tt.from), named(t, tt.to)
		now := int64(1_700_000_000e9) - 1_700_000_000e9%int64(time.Hour)
		s := from.Fresh(now)
		ask := func(a Algorithm, n int) (admitted int) {
			for range n {
				d, err := a.Decide(s, now, 1)
				if err != nil {
					t.Fatal(err)
				}
				if d.Admitted {
					admitted++
				}
				if d.Remaining < 0 {
					t.Errorf("%s to %s: %d remain", tt.from, tt.to, d.Remaining)
				}
			}
			return admitted
		}
		ask(from, tt.spent)
		now += int64(time.Second)
		use, carry := Succeed(from, to)
		if next, ok := carry(s, now); ok {
			s = next
		} else {
			s = to.Fresh(now)
		}
		got := ask(to, 100)
		now += int64(time.Second)
		if later := ask(to, 100); got != tt.now || later != tt.later || use != nil {
			t.Errorf("%s to %s after %d: got %d and %d, want %d and %d", tt.from, tt.to, tt.spent, got, later, tt.now, tt.later)
		}
	}
}
