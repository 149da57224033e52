package scenarios

import (
	"reflect"
	"testing"
	"time"
)

func TestYAMLReadsBack(t *testing.T) {
	first, err := Parse("login.yaml", []byte(wellFormed), knownChecks)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []*Scenario{first} {
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

// A pace must not drift: the n-th shot is due at n periods exactly.
func TestPaceDoesNotDrift(t *testing.T) {
	s := Scenario{Limits: []Limit{{Burst: 1, Rate: Rate{1, time.Second}}},
		Phases: []Phase{{Name: "third", Pace: Rate{3, time.Second}, Count: 3_000_001, Keys: Keys{Fresh: 1}}}}
	p, err := s.Plan(Supply{})
	if err != nil {
		t.Fatal(err)
	}
	// Shot 3,000,000 of three a second is due after a million seconds.
	want := map[int64]int64{2: 333_333_333, 3_000_001: int64(1_000_000 * time.Second)}
	for shot := range p.Shots.All() {
		if at, ok := want[shot.Seq]; ok && shot.At != at {
			t.Errorf("shot %d: got %d, want %d", shot.Seq, shot.At, at)
		}
	}
	if got := p.Shots.Len(); got != 3_000_001 {
		t.Errorf("got %d shots, want 3000001", got)
	}
}
