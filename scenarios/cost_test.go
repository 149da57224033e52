package scenarios

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

const withCosts = `
limit: {burst: 20, rate: 10/s, cost-header: X-Cost}
phases:
  - {name: many, volley: 2, cost: 5}
  - {name: one, volley: 1, keys: many}
  - {name: later, pace: 1/s, count: 1, keys: many, cost: 20, retry: obey}
`

func TestCosts(t *testing.T) {
	s, err := Parse("cost.yaml", []byte(withCosts), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again.yaml", s.YAML(), nil)
	if err != nil || !reflect.DeepEqual(again, s) {
		t.Errorf("got\n%+v, %v\nwant\n%+v\nfrom\n%s", again, err, s, s.YAML())
	}
	p, err := s.Plan(Supply{})
	if err != nil {
		t.Fatal(err)
	}
	var costs []int64
	for shot := range p.Shots.All() {
		costs = append(costs, shot.Cost)
	}
	if want := []int64{5, 5, 1, 20}; !reflect.DeepEqual(costs, want) {
		t.Errorf("got costs %v, want %v", costs, want)
	}
	// 20 tokens take 2 s, and a bucket that is granted 0.2 % longer.
	if got := slices.Collect(p.Shots.All())[3].Patience; got < 4*time.Second || got > 4100*time.Millisecond {
		t.Errorf("got a patience of %v, want the time 20 tokens take and 2 s", got)
	}
	if got := strings.Count(p.String(), "\tcost "); got != 3 {
		t.Errorf("got %d costs in the plan, want 3:\n%s", got, p)
	}
}

func TestCostErrors(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"no header", "limit: {burst: 9, rate: 1/s}\nphases: [{name: a, volley: 3, cost: 2}]\n", `phase "a": a cost of 2, and no limit says in which header`},
		{"no costs", "limit: {contract: queue, burst: 9, rate: 1/s, cost-header: X-Cost}\nphases: [{name: a, volley: 3}]\n", "a queue has no requests of several tokens"},
		{"no name", "limit: {burst: 9, rate: 1/s, cost-header: 'a b'}\nphases: [{name: a, volley: 3}]\n", `cost header "a b"`},
		{"the key's", "limit: {burst: 9, rate: 1/s, key: 'header:X-Cost', cost-header: x-cost}\nphases: [{name: a, volley: 3}]\n", "told apart by it already"},
		{"two headers", "limits: [{burst: 9, rate: 1/s, cost-header: X-Cost}, {burst: 90, rate: 10/s}]\nphases: [{name: a, volley: 3}]\n", "cost the same under each"},
		{"of an attack", "limit: {burst: 9, rate: 1/s, cost-header: X-Cost}\nphases: [{name: a, attack: pilot, cost: 2}]\n", "one token at a time"},
		{"nothing", "limit: {burst: 9, rate: 1/s, cost-header: X-Cost}\nphases: [{name: a, volley: 3, cost: 0}]\n", "f.yaml:2:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Parse("f.yaml", []byte(tt.src), nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want it to hold %q", err, tt.want)
			}
		})
	}
}
