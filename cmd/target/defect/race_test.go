package defect_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"
)

// Volleys of 200 at a full bucket of 10 whose next token is an hour away: right
// are 10, and wrong all, since all see the same ten. One after the other 10 pass
// in any case.
func TestRace(t *testing.T) {
	tests := []struct {
		defects []string
		want    int
	}{
		{nil, 10},
		{[]string{"race{gap=1ms}"}, 200},
		{[]string{"race{gap=50us}"}, 200},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: "token-bucket{burst=10,rate=1/h}", defects: tt.defects})
		for trial := range 20 {
			key, at := fmt.Sprint(trial), time.Duration(trial)*2*time.Minute
			if got := s.volley(at, key, 200); got != tt.want {
				t.Errorf("%v trial %d: got %d admitted, want %d", tt.defects, trial, got, tt.want)
			}
		}
		admitted := 0
		for i := range 200 {
			s.Arrive(time.Hour+time.Duration(i)*2*time.Millisecond, by("alone"), func(_ time.Duration, w *http.Response) {
				if w.StatusCode == http.StatusOK {
					admitted++
				}
			})
		}
		s.Advance(2 * time.Hour)
		if admitted != 10 {
			t.Errorf("%v: one after the other: got %d admitted, want 10", tt.defects, admitted)
		}
	}
}

// 200 requests in 20 ms: in each gap of 1 ms about ten see the same tokens, and
// the ten gaps that it takes to use up ten tokens let about a hundred pass, not as
// many each time.
func TestRaceSpreads(t *testing.T) {
	odd := rand.New(rand.NewPCG(1, 2))
	s := simulate(t, site{limit: "token-bucket{burst=10,rate=1/h}", defects: []string{"race{gap=1ms}"}})
	seen := map[int]bool{}
	for trial := range 20 {
		at := time.Duration(trial) * time.Minute
		admitted := 0
		for range 200 {
			at += time.Duration(odd.IntN(200_000))
			s.Arrive(at, by(fmt.Sprint(trial)), func(_ time.Duration, w *http.Response) {
				if w.StatusCode == http.StatusOK {
					admitted++
				}
			})
		}
		s.Advance(at + time.Second)
		if admitted <= 10 || admitted >= 200 {
			t.Errorf("trial %d: got %d admitted, want 11 to 199", trial, admitted)
		}
		seen[admitted] = true
	}
	if len(seen) < 3 {
		t.Errorf("got only %v, want a spread", seen)
	}
}

// The truth of each decision is what it saw: all of a volley ten tokens, of which
// it left nine, from the moment of its reading to that of its writing.
func TestRaceIsTold(t *testing.T) {
	s := simulate(t, site{limit: "token-bucket{burst=10,rate=1/h}", defects: []string{"race{gap=1ms}"}})
	s.volley(time.Second, "a", 50)
	records, _ := s.Truth()
	if len(records) != 50 {
		t.Fatalf("got %d records, want 50", len(records))
	}
	for _, r := range records {
		if r.Before != 10*r.Unit || r.After != 9*r.Unit || !r.Admitted || r.FromNS != int64(time.Second) || r.MonoNS != int64(time.Second+time.Millisecond) {
			t.Fatalf("got %+v, want 10 tokens before and 9 after, from 1 s to 1.001 s", r)
		}
	}
}
