package library

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

var plenty = Means{Requests: 100_000, Length: 5 * time.Minute}

// A doubt is followed up by the experiments that decide it and by no others, and
// what they cost is what their plan comes to.
func TestFollowUpsAreTheLeast(t *testing.T) {
	l := scenarios.Limit{Burst: 10, Rate: scenarios.Rate{Count: 5, Per: time.Second}}
	lumps := scenarios.Limit{Contract: scenarios.Lumps, Burst: 10, Rate: scenarios.Rate{Count: 10, Per: 2 * time.Second}}
	again := []scenarios.Phase{{Name: "idle", Volley: 12, Keys: scenarios.Keys{Fresh: 1}}, {Name: "idled", Rest: 3 * time.Second, Volley: 30, Keys: scenarios.Keys{Of: "idle"}}}
	tests := []struct {
		suspicion scenarios.Suspicion
		want      []string
	}{
		{scenarios.Suspicion{}, nil},
		{scenarios.Suspicion{Doubts: []scenarios.Doubt{scenarios.DoubtOverlap}}, []string{"one by one", "at once"}},
		{scenarios.Suspicion{Doubts: []scenarios.Doubt{scenarios.DoubtRouting}}, []string{"one by one", "apart"}},
		{scenarios.Suspicion{Doubts: []scenarios.Doubt{scenarios.DoubtCrowds, scenarios.DoubtMoments}}, []string{"crowd", "watch"}},
		{scenarios.Suspicion{Doubts: []scenarios.Doubt{scenarios.DoubtRecurs}, Again: again}, []string{"again"}},
		{scenarios.Suspicion{Doubts: []scenarios.Doubt{scenarios.DoubtPeriods}, Like: []scenarios.Limit{l, lumps}}, []string{"parts of 5/s", "parts of 10/2s"}},
	}
	for _, tt := range tests {
		got := After(l, Circumstances{}, tt.suspicion, plenty)
		if !slices.Equal(got.Says, tt.want) || len(got.Left) > 0 {
			t.Errorf("%v: got %v, left out %v, want %v", tt.suspicion.Doubts, got.Says, got.Left, tt.want)
		}
		if len(got.Phases) == 0 {
			continue
		}
		s := &scenarios.Scenario{Limits: []scenarios.Limit{l}, Phases: []scenarios.Phase{{Name: "first", Volley: 1, Keys: scenarios.Keys{Fresh: 1}}}}
		both := s.FollowedBy(got.Phases, time.Second)
		if err := both.Check(); err != nil {
			t.Fatal(err)
		}
		p, err := both.Plan(scenarios.Supply{})
		if err != nil {
			t.Fatal(err)
		}
		later := p.FollowUps(1)
		if later.Most() != got.Price.Requests || p.Length > time.Second+got.Price.Length {
			t.Errorf("%v: got a price of %d requests and %v, and the plan comes to %d and %v", tt.want, got.Price.Requests, got.Price.Length, later.Most(), p.Length-time.Second)
		}
		if first, _ := later.Shots.First(); first.At < int64(time.Second) || both.Asked() != 1 {
			t.Errorf("%v: the first shot is at %d, and %d phases ask", tt.want, first.At, both.Asked())
		}
		read, err := scenarios.Parse("again.yaml", both.YAML(), nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, both.YAML())
		}
		if !reflect.DeepEqual(read.Phases, both.Phases) {
			t.Errorf("got\n%+v\nwant\n%+v", read.Phases, both.Phases)
		}
	}
}

// What cannot be afforded is told with what stays unknown.
func TestFollowUpsSayWhatIsLeftOpen(t *testing.T) {
	slow := scenarios.Limit{Burst: 10, Rate: scenarios.Rate{Count: 1, Per: time.Minute}}
	quick := scenarios.Limit{Burst: 10, Rate: scenarios.Rate{Count: 1000, Per: time.Second}}
	all := scenarios.Suspicion{Doubts: scenarios.Doubts(), Like: []scenarios.Limit{slow}}
	tests := []struct {
		name  string
		limit scenarios.Limit
		c     Circumstances
		m     Means
		left  string // an experiment that is left out
		needs bool   // more time would help
	}{
		{"a given key of one a minute", slow, Circumstances{Keys: 1}, Means{Requests: 1000, Length: 30 * time.Second}, "one by one", true},
		{"the parts of a long period", slow, Circumstances{}, Means{Requests: 10_000, Length: 30 * time.Second}, "parts of 1/m", true},
		{"no requests", slow, Circumstances{}, Means{Requests: 5, Length: time.Minute}, "one by one", false},
		{"tokens that come too fast", quick, Circumstances{RTT: time.Millisecond}, plenty, "one by one", false},
		{"a crowd of given keys", slow, Circumstances{Keys: 3}, plenty, "crowd", false},
	}
	for _, tt := range tests {
		got := After(tt.limit, tt.c, all, tt.m)
		i := slices.IndexFunc(got.Left, func(o Omission) bool { return o.Track == tt.left })
		if i < 0 || got.Left[i].Loses == "" || (got.Left[i].Needs > 0) != tt.needs {
			t.Errorf("%s: got %+v, want %s left out", tt.name, got.Left, tt.left)
		}
		if got.Price.Requests > tt.m.Requests || len(got.Phases) > 0 && got.Price.Length > tt.m.Length+tt.limit.Fill()*21/20 {
			t.Errorf("%s: got %+v, which exceeds %+v", tt.name, got.Price, tt.m)
		}
	}
}
