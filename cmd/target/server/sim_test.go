package server

import (
	"net/http"
	"testing"
	"time"
)

// A queue's waits pass in virtual time, and answers come in the order in which
// they are given.
func TestSimHoldsBack(t *testing.T) {
	s, err := Simulate(byHeader(t, "queue{burst=3,rate=2/1s}"), start)
	if err != nil {
		t.Fatal(err)
	}
	type answered struct {
		at     time.Duration
		status int
	}
	var got []answered
	for range 6 {
		s.Arrive(0, request("GET", "/", "a", ""), func(at time.Duration, w *http.Response) {
			got = append(got, answered{at, w.StatusCode})
		})
	}
	if at, ok := s.Next(); !ok || at != 500*time.Millisecond {
		t.Errorf("got %v %v as what comes next, want the release of the second at 500 ms", at, ok)
	}
	s.Advance(time.Minute)
	want := []answered{{0, 200}, {0, 429}, {0, 429}, {500 * time.Millisecond, 200}, {time.Second, 200}, {1500 * time.Millisecond, 200}}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("answer %d: got %v, want %v", i, got[i], want[i])
		}
	}
	if _, ok := s.Next(); ok {
		t.Error("something still waits")
	}
}

// What does not know of virtual time is refused.
func TestSimWantsMemory(t *testing.T) {
	cfg := Config{Limits: []Limit{{Algorithm: parse(t, DefaultLimit), Store: parse(t, "redis{address=127.0.0.1:1}")}}}
	if _, err := Simulate(cfg, start); err == nil {
		t.Error("a Redis in virtual time: got no error")
	}
}

// A request is answered by who has answered one before, unless that one waits.
func TestSimHiresForWhatWaits(t *testing.T) {
	s, err := Simulate(byHeader(t, "queue{burst=3,rate=2/1s}"), start)
	if err != nil {
		t.Fatal(err)
	}
	answered := 0
	for i := range 50 { // of each key the first passes at once, the second and third wait
		s.Arrive(time.Duration(i)*10*time.Second, request("GET", "/", "a", ""), func(time.Duration, *http.Response) { answered++ })
	}
	if len(s.idle) != 1 {
		t.Errorf("got %d hands for requests that do not wait, want 1", len(s.idle))
	}
	for range 3 {
		s.Arrive(time.Hour, request("GET", "/", "a", ""), func(time.Duration, *http.Response) { answered++ })
	}
	s.Advance(2 * time.Hour)
	if len(s.idle) != 2 || answered != 53 {
		t.Errorf("got %d hands and %d answers where one is answered at once and two wait, want 2 and 53", len(s.idle), answered)
	}
	if err := s.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}
