package reduction

import (
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// large is a scenario of which little matters.
func large() *scenarios.Scenario {
	key := scenarios.Keys{Fresh: 20}
	s := &scenarios.Scenario{Seed: 1, Limits: []scenarios.Limit{{Burst: 10, Rate: scenarios.Rate{Count: 5, Per: time.Second}, Slack: scenarios.DefaultSlack()}}}
	s.Phases = []scenarios.Phase{
		{Name: "walk", Pace: scenarios.Rate{Count: 50, Per: time.Second}, Count: 500, Keys: key},
		{Name: "volley", Volley: 200, Keys: key, Every: 50 * time.Millisecond},
		{Name: "edge", Attack: scenarios.TacticBoundary, Rounds: 4, Keys: scenarios.Keys{Fresh: 3}},
		{Name: "rest", Rest: 10 * time.Second, Volley: 60, Keys: scenarios.Keys{Of: "volley"}},
		{Name: "last", Pace: scenarios.Rate{Count: 5, Per: time.Second}, Count: 40, Keys: scenarios.Keys{Of: "volley"}},
	}
	return s
}

// most is how many requests a key gets within a time of each other at most.
func most(p scenarios.Plan, within int64) (n int) {
	shots := slices.Collect(p.Shots.All())
	for i, a := range shots {
		count := 0
		for _, b := range shots[i:] {
			if b.Key == a.Key && b.At-a.At <= within {
				count++
			}
		}
		n = max(n, count)
	}
	return n
}

func planned(t *testing.T, s *scenarios.Scenario) scenarios.Plan {
	t.Helper()
	p, err := s.Plan(scenarios.Supply{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestReduce(t *testing.T) {
	ms := int64(time.Millisecond)
	tests := []struct {
		name  string
		shows func(t *testing.T, s *scenarios.Scenario) bool
		want  Size
	}{
		// One volley of 11 on one key is enough, at once.
		{"eleven at once", func(t *testing.T, s *scenarios.Scenario) bool { return most(planned(t, s), ms) >= 11 }, Size{11, 0}},
		// A number that no limit suggests is found by bisection.
		{"137 at once", func(t *testing.T, s *scenarios.Scenario) bool { return most(planned(t, s), ms) >= 137 }, Size{137, 0}},
		// Two on a key that are far apart: what lies between is silence.
		{"two far apart", func(t *testing.T, s *scenarios.Scenario) bool {
			shots := slices.Collect(planned(t, s).Shots.All())
			for i, a := range shots {
				for _, b := range shots[i:] {
					if b.Key == a.Key && b.At-a.At >= 3000*ms {
						return true
					}
				}
			}
			return false
		}, Size{2, 3300 * time.Millisecond}},
		// What follows from answers stays as long as it is needed, and no longer.
		{"an attack", func(t *testing.T, s *scenarios.Scenario) bool { return len(planned(t, s).Attacks) > 0 }, Size{153, 5200 * time.Millisecond}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := map[string]bool{}
			fired := 0
			got := Reduce(large(), scenarios.Supply{}, func(s *scenarios.Scenario) (bool, bool) {
				if text := string(s.YAML()); asked[text] {
					t.Errorf("asked twice of\n%s", text)
				} else {
					asked[text] = true
				}
				fired++
				return tt.shows(t, s), true
			})
			size, ok := SizeOf(got, scenarios.Supply{})
			t.Logf("%v after %d candidates\n%s", size, fired, got.YAML())
			if !ok || !tt.shows(t, got) || size.Requests > tt.want.Requests || size.Length > tt.want.Length {
				t.Errorf("got %v, want at most %v", size, tt.want)
			}
			if fired > 400 {
				t.Errorf("it took %d candidates", fired)
			}
		})
	}
}

// Nothing is fired when nothing more may be, and what is left shows it.
func TestReduceStops(t *testing.T) {
	for most := 1; most < 12; most++ {
		fired := 0
		var last *scenarios.Scenario
		got := Reduce(large(), scenarios.Supply{}, func(s *scenarios.Scenario) (bool, bool) {
			if fired++; fired > most {
				t.Fatalf("%d were fired, and %d may be", fired, most)
			}
			if fired < most {
				last = s
			}
			return fired < most, fired < most
		})
		if last != nil && string(got.YAML()) != string(last.YAML()) {
			t.Errorf("with %d allowed: got\n%s\nwant\n%s", most, got.YAML(), last.YAML())
		}
	}
}
