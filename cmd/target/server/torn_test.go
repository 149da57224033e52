package server

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/ratehammer/ratehammer/cmd/target/mode"
	"github.com/ratehammer/ratehammer/internal/lab"
)

// Of 200 at once a limiter that reads, decides and writes in steps lets more than
// the 10 pass that a bucket holds, nearly every time: in memory with a gap of a
// millisecond, and over Redis with GET and SET and no gap but the way there. The
// truth proves it: of more than 10 decisions each saw a token and took it, and
// several saw the same one. One after the other 10 pass.
func TestRacesOverSockets(t *testing.T) {
	tests := []struct {
		where string
		race  string
		store func(*testing.T) mode.Mode
	}{
		{"memory", "race{gap=1ms}", func(*testing.T) mode.Mode { return mode.Mode{} }},
		{"Redis", "race", func(t *testing.T) mode.Mode { return parse(t, "redis{address="+lab.Redis(t).Address+"}") }},
	}
	const volleys, need = 100, 95
	// On a busy machine with few processors a request may have gone to Redis and
	// back before another one runs, and that is no volley. More threads take turns.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16))
	for _, tt := range tests {
		t.Run(tt.where, func(t *testing.T) {
			s := startServer(t, Config{Limits: []Limit{{
				Algorithm: parse(t, "token-bucket{burst=10,rate=1/h}"), Key: parseKey(t, "header:X-Api-Key"),
				Store: tt.store(t), Defects: []mode.Mode{parse(t, tt.race)},
			}}})
			raced, most, unanswered := 0, 0, 0
			for i := range volleys {
				got := volley(t, s, fmt.Sprintf("client-%d", i), 200)
				// A machine that is too busy for Redis to answer in time shows what it
				// should: who the store does not answer is refused by a 503.
				if unanswered += got[503]; got[200]+got[429]+got[503] != 200 || unanswered > 200 || tt.where == "memory" && got[503] > 0 {
					t.Errorf("volley %d: got %v, want 200 and 429 only", i, got)
				}
				if most = max(most, got[200]); got[200] > 10 {
					raced++
				}
			}
			if raced < need {
				t.Errorf("got more than 10 of 200 in %d of %d volleys, want %d", raced, volleys, need)
			}
			t.Logf("more than 10 of 200 passed in %d of %d volleys, at most %d", raced, volleys, most)
			if proven := checkRaces(t, s); proven < need {
				t.Errorf("the truth proves it of %d volleys, want %d", proven, need)
			}
			alone := 0
			for range 20 {
				if statusOf(s.URL(), "alone") == 200 {
					alone++
				}
			}
			if alone != 10 {
				t.Errorf("one after the other: got %d admitted, want 10", alone)
			}
		})
	}
}

// checkRaces counts the keys that more than 10 have passed on, each on a level
// that it really saw, and several on the same.
func checkRaces(t *testing.T, s *Server) (proven int) {
	t.Helper()
	records, dropped := s.Truth()
	if dropped > 0 {
		t.Fatalf("%d records of the truth are lost", dropped)
	}
	admitted, saw := map[string]int{}, map[string]map[int64]int{}
	for _, r := range records {
		if r.FromNS > r.MonoNS || r.Before < 0 || r.Before > 10*r.Unit || r.Admitted != (r.Before >= r.Unit) {
			t.Fatalf("got %+v, want a decision on what it saw", r)
		}
		left := r.Before
		if r.Admitted {
			left -= r.Unit
			admitted[r.Key]++
			if saw[r.Key] == nil {
				saw[r.Key] = map[int64]int{}
			}
			saw[r.Key][r.Before/r.Unit]++
		}
		if r.After != left {
			t.Fatalf("got %+v, want what it saw, less what it took", r)
		}
	}
	for key, n := range admitted {
		same := 0
		for _, requests := range saw[key] {
			same = max(same, requests)
		}
		if n > 10 && same > 1 {
			proven++
		}
	}
	return proven
}
