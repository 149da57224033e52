package library

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// What is drawn from the library reads back from its YAML.
func TestYAMLReadsBack(t *testing.T) {
	l := scenarios.Limit{Burst: 3, Rate: scenarios.Rate{Count: 100, Per: time.Minute}, Key: scenarios.Key{Kind: scenarios.KeyIP}, Answers: scenarios.DefaultAnswers(), Slack: scenarios.Slack{Over: 1}}
	l.Answers.Limited, _ = scenarios.ParseRule("403+header:X-Left=0,429")
	first, _ := Standard(l, Circumstances{Seed: 5})
	first.LateBy, first.Timeout = 3*time.Second, 20*time.Second
	second, _ := Standard(l, Circumstances{Seed: 5, Keys: 1})
	third, _ := Thorough(l, Circumstances{Seed: 5})
	for _, want := range []*scenarios.Scenario{&first, &second, &third} {
		src := want.YAML()
		got, err := scenarios.Parse("again.yaml", src, nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, src)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%+v\nwant\n%+v\nfrom\n%s", got, want, src)
		}
	}
}

// The standard scenario attacks where an edge would be a breach and can be told
// from none.
func TestStandardAttacks(t *testing.T) {
	tests := []struct {
		name    string
		limit   scenarios.Limit
		c       Circumstances
		attacks int
		left    string // a track that is left out, and why; empty: none
	}{
		{"bucket", scenarios.Limit{Burst: 10, Rate: scenarios.Rate{Count: 5, Per: time.Second}}, Circumstances{}, 3, ""},
		{"sliding log", scenarios.Limit{Contract: scenarios.SlidingLog, Rate: scenarios.Rate{Count: 10, Per: 2 * time.Second}}, Circumstances{}, 2, ""},
		{"one given key", scenarios.Limit{Burst: 10, Rate: scenarios.Rate{Count: 5, Per: time.Second}}, Circumstances{Keys: 1}, 1, "twins: keys: it takes 2, 1 given"},
		{"fixed windows", scenarios.Limit{Contract: scenarios.FixedWindow, Rate: scenarios.Rate{Count: 10, Per: 2 * time.Second}}, Circumstances{}, 0, ""},
		{"one at a time", scenarios.Limit{Burst: 1, Rate: scenarios.Rate{Count: 5, Per: time.Second}}, Circumstances{}, 0, ""},
		{"no time", scenarios.Limit{Burst: 1000, Rate: scenarios.Rate{Count: 1000, Per: time.Hour}}, Circumstances{Budget: time.Minute}, 0, "edge: time"},
		{"no time between edges", scenarios.Limit{Burst: 10, Rate: scenarios.Rate{Count: 1000, Per: time.Second}}, Circumstances{RTT: 5 * time.Millisecond}, 0, "edge: time between two edges (10ms"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, left := Standard(tt.limit, tt.c)
			var supply scenarios.Supply
			for range tt.c.Keys {
				supply.Given = append(supply.Given, "given")
			}
			p, err := s.Plan(supply)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Attacks) != tt.attacks {
				t.Errorf("got %d attacks, want %d", len(p.Attacks), tt.attacks)
			}
			var all []string
			for _, o := range left {
				all = append(all, o.Track+": "+o.Why)
			}
			if got := strings.Join(all, "; "); !strings.Contains(got, tt.left) || tt.left == "" && got != "" {
				t.Errorf("left out: got %q, want %q", got, tt.left)
			}
		})
	}
}

func TestPlanIsTheSameForTheSameSeed(t *testing.T) {
	l := scenarios.Limit{Burst: 10, Rate: scenarios.Rate{Count: 5, Per: time.Second}, Slack: scenarios.DefaultSlack()}
	lay := func(seed uint64, keys int) string {
		s, _ := Standard(l, Circumstances{Seed: seed, Keys: keys})
		var supply scenarios.Supply
		for i := range keys {
			supply.Given = append(supply.Given, fmt.Sprint("key ", i))
		}
		p, err := s.Plan(supply)
		if err != nil {
			t.Fatal(err)
		}
		return p.String()
	}
	for _, keys := range []int{0, 1, 3} {
		if first, again := lay(1, keys), lay(1, keys); first != again {
			t.Errorf("%d keys: two plans of one seed differ", keys)
		}
	}
	if lay(1, 0) == lay(2, 0) {
		t.Errorf("two seeds give the same plan")
	}
}

// With few keys, no phase on a fresh key starts before its bucket must be full.
func TestGivenKeysAreFullAgain(t *testing.T) {
	l := scenarios.Limit{Burst: 4, Rate: scenarios.Rate{Count: 2, Per: time.Second}}
	s, left := Standard(l, Circumstances{Keys: 1})
	p, err := s.Plan(scenarios.Supply{Given: []string{"only"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Track != "twins" {
		t.Errorf("left out: got %v, want the twins alone", left)
	}
	fresh := map[int32]bool{}
	for i, ph := range s.Phases {
		fresh[int32(i)] = ph.Keys.Fresh > 0 && (ph.Volley > 0 || ph.Count > 0 || ph.Attack != 0)
	}
	last := int64(0) // nothing is known before the start
	begun := map[int32]bool{}
	for shot := range p.Shots.All() {
		if fresh[shot.Phase] && !begun[shot.Phase] && shot.At < last+int64(2*time.Second) {
			t.Errorf("phase %s starts at %v, %v after the shot before it", p.Phases[shot.Phase], time.Duration(shot.At), time.Duration(shot.At-last))
		}
		begun[shot.Phase], last = true, shot.At
	}
}

// The thorough scenario finds every kind of fault that a contract allows to be
// asked for, no trap of it is idle, and what does not fit is told.
func TestThoroughCoversAll(t *testing.T) {
	for _, c := range scenarios.Contracts {
		l := scenarios.Limit{Contract: c, Slack: scenarios.DefaultSlack()}
		has, _ := c.Numbers()
		if has.Burst {
			l.Burst = 10
		}
		if has.Rate {
			l.Rate = scenarios.Rate{Count: 10, Per: 2 * time.Second}
		}
		s, left := Thorough(l, Circumstances{})
		if len(left) > 0 {
			t.Errorf("%s: got %v left out, want nothing", c, left)
		}
		var fired []Trap
		for _, trap := range Traps() {
			if !trap.Asks(l) {
				continue
			}
			f := newDesign(l, Circumstances{}).fit(trap)
			if slices.ContainsFunc(s.Phases, func(p scenarios.Phase) bool { return p.Name == f.phases[0].Name }) {
				fired = append(fired, trap)
			}
		}
		for _, trap := range Traps() {
			if trap.Asks(l) && len(missing(trap.Finds, fired)) > 0 {
				t.Errorf("%s: nothing looks for %v", c, missing(trap.Finds, fired))
			}
		}
		for i := range fired {
			if others := slices.Delete(slices.Clone(fired), i, i+1); len(missing(fired[i].Finds, others)) == 0 {
				t.Errorf("%s: %s finds nothing that the others do not", c, fired[i].Name)
			}
		}
	}
	short, left := Thorough(scenarios.Limit{Burst: 10, Rate: scenarios.Rate{Count: 1, Per: time.Second}}, Circumstances{Budget: 8 * time.Second})
	if len(left) == 0 || len(short.Phases) == 0 {
		t.Errorf("8 s: got %d phases and %v left out, want some of both", len(short.Phases), left)
	}
}

// What a trap costs at most is what its plan comes to at most.
func TestPrices(t *testing.T) {
	for _, l := range []scenarios.Limit{
		{Burst: 10, Rate: scenarios.Rate{Count: 5, Per: time.Second}},
		{Contract: scenarios.SlidingLog, Rate: scenarios.Rate{Count: 100, Per: time.Minute}},
		{Contract: scenarios.Concurrency, Burst: 4},
	} {
		d := newDesign(l, Circumstances{})
		for name, price := range Prices(l, Circumstances{}) {
			trap := Traps()[slices.IndexFunc(Traps(), func(t Trap) bool { return t.Name == name })]
			s, _ := d.lay(name, []Trap{trap})
			p, err := s.Plan(scenarios.Supply{})
			if err != nil {
				t.Fatal(err)
			}
			if p.Most() != price.Requests {
				t.Errorf("%s of %v: got a price of %d requests, and the plan comes to %d", name, l, price.Requests, p.Most())
			}
		}
	}
}
