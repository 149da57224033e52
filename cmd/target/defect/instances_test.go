package defect_test

import (
	"net/http"
	"testing"
)

// 300 requests of one client over 100 connections, and over one. A budget of 10
// that is shared admits 10 either way; of three by connection 30 and 10, of three
// in turn or at random 30 either way.
func TestInstances(t *testing.T) {
	tests := []struct {
		defects   []string
		many, one int
	}{
		{nil, 10, 10},
		{[]string{"instances{n=3}"}, 30, 10},
		{[]string{"instances{n=3,route=rr}"}, 30, 30},
		{[]string{"instances{n=3,route=random}"}, 30, 30},
		{[]string{"instances{n=16,route=conn}"}, 160, 10},
	}
	for _, tt := range tests {
		s := simulate(t, site{limit: "token-bucket{burst=10,rate=1/h}", defects: tt.defects})
		if got := s.count(0, 2000, func(i int) *http.Request { return over(i%100, "a") }); got != tt.many {
			t.Errorf("%v: over many connections: got %d admitted, want %d", tt.defects, got, tt.many)
		}
		if got := s.count(0, 300, func(int) *http.Request { return over(0, "b") }); got != tt.one {
			t.Errorf("%v: over one: got %d admitted, want %d", tt.defects, got, tt.one)
		}
	}
}

// In turn, two budgets of one answer 200 200 429 429, and then alternate as their
// tokens come.
func TestInstancesInTurn(t *testing.T) {
	s := simulate(t, site{limit: "token-bucket{burst=1,rate=1/h}", defects: []string{"instances{n=2,route=rr}"}})
	var got []int
	for range 4 {
		got = append(got, s.ask(0, by("a")).StatusCode)
	}
	if want := []int{200, 200, 429, 429}; got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || got[3] != want[3] {
		t.Errorf("got %v, want %v", got, want)
	}
	if key := s.last().Key; key != "a@2" {
		t.Errorf("got the key %s in the truth, want that of the instance, a@2", key)
	}
}
