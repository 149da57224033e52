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
		{"eleven at once", func(t *testing.T, s *scenarios.Scenario) bool { return most(planned(t, s), ms) >= 11 }, Size{Requests: 11}},
		// A number that no limit suggests is found by bisection.
		{"137 at once", func(t *testing.T, s *scenarios.Scenario) bool { return most(planned(t, s), ms) >= 137 }, Size{Requests: 137}},
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
		}, Size{Requests: 2, Length: 3300 * time.Millisecond}},
		// What follows from answers stays as long as it is needed, and no longer.
		{"an attack", func(t *testing.T, s *scenarios.Scenario) bool { return len(planned(t, s).Attacks) > 0 }, Size{Requests: 153, Length: 5200 * time.Millisecond}},
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

// Of what is done to the server as little stays as shows it, and the silence in front of
// it goes.
func TestReduceActions(t *testing.T) {
	at := func(d time.Duration) *time.Duration { return &d }
	pace := scenarios.Rate{Count: 20, Per: time.Second}
	s := &scenarios.Scenario{Seed: 1, Limits: []scenarios.Limit{{Burst: 10, Rate: scenarios.Rate{Count: 5, Per: time.Second}, Slack: scenarios.DefaultSlack()}},
		Phases: []scenarios.Phase{{Name: "within", At: at(0), Pace: pace, Count: 200, Keys: scenarios.Keys{Fresh: 3}}, {Name: "drain", At: at(0), Volley: 40, Keys: scenarios.Keys{Fresh: 2}}}}
	for _, by := range []time.Duration{time.Second, -time.Second, -5 * time.Second, -time.Hour} {
		s.Actions = append(s.Actions, scenarios.Action{At: 2*time.Second + by.Abs()/5%(6*time.Second), Act: scenarios.ClockStep, By: by, Every: 700 * time.Millisecond, Times: 3})
	}
	// A key that was used before a step back by 5 s or more, and again within a second of it.
	shows := func(c *scenarios.Scenario) bool {
		p := planned(t, c)
		for _, a := range p.Actions {
			before, after := map[int32]bool{}, map[int32]bool{}
			for x := range p.Shots.All() {
				if since := x.At - int64(a.At); since < 0 {
					before[x.Key] = true
				} else if since < int64(time.Second) && a.By <= -5*time.Second && before[x.Key] {
					after[x.Key] = true
				}
			}
			if len(after) > 0 {
				return true
			}
		}
		return false
	}
	got := Reduce(s, scenarios.Supply{}, func(c *scenarios.Scenario) (bool, bool) { return shows(c), true })
	size, ok := SizeOf(got, scenarios.Supply{})
	if !ok || !shows(got) || size.Requests != 2 || size.Actions != 1 || size.Length > 800*time.Millisecond {
		t.Errorf("got %+v of\n%s", size, got.YAML())
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
