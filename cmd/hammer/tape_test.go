package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

// A record is fired again at the moments at which its requests left, on keys that
// are told apart as they were, whatever phases they belong to.
func TestTapeHoldsTheRecord(t *testing.T) {
	ms := int64(time.Millisecond)
	hit := func(seq int64, phase int32, key string, planned, sent int64) results.Hit {
		return results.Hit{Seq: seq, Phase: phase, Key: key, Cost: 1, Planned: planned * ms, Sent: sent * ms, First: sent*ms + 1, Done: sent*ms + 2}
	}
	tp := tape{phases: []scenarios.Phase{
		{Name: "volley", Volley: 2, Keys: scenarios.Keys{Fresh: 2}},
		{Name: "on", Keys: scenarios.Keys{Of: "volley"}},
		{Name: "both", Keys: scenarios.Keys{Fresh: 1}},
	}}
	tp.block(results.Block{Hits: []results.Hit{
		hit(1, 0, "volley/1", 100, 101), hit(2, 0, "volley/1", 100, 103), hit(3, 0, "volley/2", 100, 102),
		hit(4, 1, "volley/2", 200, 205), hit(5, 2, "both/1", 150, 150), hit(6, 2, "volley/1", 160, 161),
		hit(7, 3, "follow-up: x/1", 900, 900),
	}})
	phases, err := tp.written()
	if err != nil {
		t.Fatal(err)
	}
	s := scenarios.Scenario{Limits: []scenarios.Limit{{Burst: 10, Rate: scenarios.Rate{Count: 5, Per: time.Second}}}, Phases: phases}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	p, err := s.Plan(scenarios.Supply{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for x := range p.Shots.All() {
		got = append(got, fmt.Sprintf("%v %s %s", time.Duration(x.At), p.Phases[x.Phase], p.Keys[x.Key]))
	}
	want := []string{
		"101ms volley volley/1", "101ms volley volley/1", "102ms volley volley/2",
		"150ms both both/1", "161ms both on volley volley/1", "205ms on volley/2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Given keys are one phase, so that no wait for full buckets gets in between.
func TestTapeOfGivenKeys(t *testing.T) {
	tp := tape{given: true, phases: []scenarios.Phase{{Name: "a"}, {Name: "b"}}}
	tp.block(results.Block{Hits: []results.Hit{
		{Seq: 1, Phase: 0, Key: "key 2", Sent: 5}, {Seq: 2, Phase: 1, Key: "key 1", Planned: 9, Sent: 10},
	}})
	phases, err := tp.written()
	if err != nil || len(phases) != 1 || len(phases[0].Arrivals) != 2 || phases[0].Keys.Fresh != 2 {
		t.Errorf("got %+v, %v, want one phase on two keys", phases, err)
	}
}
