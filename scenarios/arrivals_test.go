package scenarios

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const arrivalsFile = `limit: {burst: 10, rate: 5/s, cost-header: X-Cost}
phases:
  - {name: pair, arrivals: [{at: 200ms, key: a}, {at: 212ms, key: a, count: 11}, {at: 100ms, key: b, cost: 3}]}
  - {name: again, at: 1s, keys: pair, arrivals: [{at: 1.000000007s, key: b}]}
  - {name: two, volley: 2, keys: 2}
  - {name: second, keys: two, arrivals: [{at: 0s, key: 2}]}
`

func TestArrivalsArePlanned(t *testing.T) {
	s, err := Parse("arrivals.yaml", []byte(arrivalsFile), knownChecks)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Plan(Supply{})
	if err != nil {
		t.Fatal(err)
	}
	type shot struct {
		at    time.Duration
		key   string
		cost  int64
		group bool
	}
	var got []shot
	for x := range p.Shots.All() {
		got = append(got, shot{time.Duration(x.At), p.Keys[x.Key], x.Cost, x.Volley != 0})
	}
	ms := time.Millisecond
	want := []shot{{100 * ms, "pair/b", 3, false}, {200 * ms, "pair/a", 1, false}}
	for range 11 {
		want = append(want, shot{212 * ms, "pair/a", 1, true})
	}
	want = append(want, shot{2000*ms + 7, "pair/b", 1, false},
		shot{2000*ms + 7, "two/1", 1, true}, shot{2000*ms + 7, "two/1", 1, true}, shot{2000*ms + 7, "two/2", 1, true}, shot{2000*ms + 7, "two/2", 1, true},
		shot{2000*ms + 7, "two/2", 1, false})
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
	again, err := Parse("again.yaml", s.YAML(), knownChecks)
	if err != nil || !reflect.DeepEqual(again, s) {
		t.Errorf("%v: got\n%+v\nwant\n%+v\nfrom\n%s", err, again, s, s.YAML())
	}
}

// Given keys are taken in their order.
func TestArrivalsOnGivenKeys(t *testing.T) {
	s, err := Parse("arrivals.yaml", []byte(arrivalsFile), knownChecks)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Plan(Supply{Given: []string{"key 1"}}); err == nil || !strings.Contains(err.Error(), "it wants 2 keys and there are 1") {
		t.Errorf("got %v, want that there are too few keys", err)
	}
	p, err := s.Plan(Supply{Given: []string{"key 1", "key 2"}, Full: true})
	if err != nil {
		t.Fatal(err)
	}
	first, _ := p.Shots.First()
	if got := p.Keys[first.Key]; got != "key 2" { // pair/b, the second that is named
		t.Errorf("the first arrival is on %s, want key 2", got)
	}
}

func TestArrivalsThatCannotBe(t *testing.T) {
	tests := []struct{ name, phases, want string }{
		{"no moment", `[{name: a, arrivals: [{key: x}]}]`, `x.yaml:2:31: an arrival without a moment`},
		{"none", `[{name: a, arrivals: []}]`, `no arrival is given`},
		{"unknown field", `[{name: a, arrivals: [{at: 0s, many: 3}]}]`, `unknown field "many"`},
		{"unit", `[{name: a, arrivals: [{at: 5}]}]`, `x.yaml:2:36: "5" has no unit`},
		{"two kinds", `[{name: a, volley: 3, arrivals: [{at: 0s}]}]`, `exclude each other`},
		{"number of keys", `[{name: a, keys: 3, arrivals: [{at: 0s}]}]`, `its arrivals are on 1 keys`},
		{"stranger", `[{name: a, volley: 3}, {name: b, keys: a, arrivals: [{at: 0s, key: z}]}]`, `x.yaml:2:32: phase "b": an arrival on key "z", and phase "a" has none of that name: 1`},
		{"cost", `[{name: a, arrivals: [{at: 0s, cost: 2}]}]`, `a cost of 2, and no limit says`},
		{"count", `[{name: a, count: 3, arrivals: [{at: 0s}]}]`, `each arrival has a count of its own`},
		{"together over few", `[{name: a, vary: {connections: 3}, arrivals: [{at: 0s, count: 2}]}]`, `take one each`},
	}
	for _, tt := range tests {
		_, err := Parse("x.yaml", []byte("limit: {burst: 10, rate: 5/s}\nphases: "+tt.phases+"\n"), knownChecks)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

// Whatever is planned can be written as arrivals, to the nanosecond.
func TestArrivalsHoldAnyTimeline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []Arrival
		for range rapid.IntRange(1, 20).Draw(t, "arrivals") {
			list = append(list, Arrival{At: time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "at")),
				Key: rapid.SampledFrom([]string{"", "a", "b: \"c\"", "{1}"}).Draw(t, "key"), Count: rapid.SampledFrom([]int{0, 2, 300}).Draw(t, "count")})
		}
		s := Scenario{Limits: []Limit{{Burst: 10, Rate: Rate{5, time.Second}, Key: Key{Kind: KeyHeader, Name: "X-Api-Key"}, Answers: DefaultAnswers(), Slack: DefaultSlack()}},
			Phases: []Phase{{Name: "p", Arrivals: list, Keys: Keys{Fresh: len(Named(list))}}}, Seed: 1}
		got, err := Parse("p.yaml", s.YAML(), nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, s.YAML())
		}
		if !reflect.DeepEqual(got.Phases, s.Phases) {
			t.Errorf("got\n%+v\nwant\n%+v", got.Phases, s.Phases)
		}
		p, err := got.Plan(Supply{})
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, a := range list {
			want += a.size()
		}
		if p.Shots.Len() != want {
			t.Errorf("got %d shots, want %d", p.Shots.Len(), want)
		}
	})
}
