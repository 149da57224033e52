package scenarios

import (
	"fmt"
	"reflect"
	"testing"
	"time"
)

func TestYAMLReadsBack(t *testing.T) {
	first, err := Parse("login.yaml", []byte(wellFormed), knownChecks)
	if err != nil {
		t.Fatal(err)
	}
	l := Limit{Burst: 3, Rate: Rate{100, time.Minute}, Key: Key{Kind: KeyIP}, Answers: DefaultAnswers(), Slack: Slack{Over: 1}}
	l.Answers.Limited, _ = ParseRule("403+header:X-Left=0,429")
	second, _ := Standard(l, Circumstances{Seed: 5})
	second.LateBy, second.Timeout = 3*time.Second, 20*time.Second
	third, _ := Standard(l, Circumstances{Seed: 5, Keys: 1})
	for _, want := range []*Scenario{first, &second, &third} {
		src := want.YAML()
		got, err := Parse("again.yaml", src, knownChecks)
		if err != nil {
			t.Fatalf("%v in\n%s", err, src)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%+v\nwant\n%+v\nfrom\n%s", got, want, src)
		}
	}
}

func TestYAMLLeavesCredentialsOut(t *testing.T) {
	s := Scenario{Request: Request{Headers: []Header{{"Authorization", "Bearer abc"}, {"X-Api-Key", "abc"}, {"Accept", "abc-not-secret"}}}}
	got := string(s.YAML())
	want := "request:\n  headers:\n    - \"Authorization: (left out)\"\n    - \"X-Api-Key: (left out)\"\n    - \"Accept: abc-not-secret\"\nlimits:\nphases:\nseed: 0\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPlanIsTheSameForTheSameSeed(t *testing.T) {
	l := Limit{Burst: 10, Rate: Rate{5, time.Second}, Slack: DefaultSlack()}
	lay := func(seed uint64, keys int) string {
		s, _ := Standard(l, Circumstances{Seed: seed, Keys: keys})
		var supply Supply
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

// A pace must not drift: the n-th shot is due at n periods exactly.
func TestPaceDoesNotDrift(t *testing.T) {
	s := Scenario{Limits: []Limit{{Burst: 1, Rate: Rate{1, time.Second}}},
		Phases: []Phase{{Name: "third", Pace: Rate{3, time.Second}, Count: 3_000_001, Keys: Keys{Fresh: 1}}}}
	p, err := s.Plan(Supply{})
	if err != nil {
		t.Fatal(err)
	}
	// Shot 3,000,000 of three a second is due after a million seconds.
	if got, want := p.Shots[3_000_000].At, int64(1_000_000*time.Second); got != want {
		t.Errorf("got %d, want %d", got, want)
	}
	if got, want := p.Shots[1].At, int64(333_333_333); got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}

// With few keys, no phase on a fresh key starts before its bucket must be full.
func TestGivenKeysAreFullAgain(t *testing.T) {
	l := Limit{Burst: 4, Rate: Rate{2, time.Second}}
	s, left := Standard(l, Circumstances{Keys: 1})
	p, err := s.Plan(Supply{Given: []string{"only"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || left[0].Track != "twins" {
		t.Errorf("left out: got %v, want the twins alone", left)
	}
	fresh := map[int32]bool{}
	for i, ph := range s.Phases {
		fresh[int32(i)] = ph.Keys.Fresh > 0 && ph.fires()
	}
	last := int64(0) // nothing is known before the start
	begun := map[int32]bool{}
	for _, shot := range p.Shots {
		if fresh[shot.Phase] && !begun[shot.Phase] && shot.At < last+int64(2*time.Second) {
			t.Errorf("phase %s starts at %v, %v after the shot before it", p.Phases[shot.Phase], time.Duration(shot.At), time.Duration(shot.At-last))
		}
		begun[shot.Phase], last = true, shot.At
	}
}
