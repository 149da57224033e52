package scenarios

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Clients that come back by chance, phases at the same time, volleys that take longer than
// the time to the next arrival, and keys that several phases share.
const (
	byChance = `limit: {burst: 10, rate: 5/s}
phases:
  - {name: up, pace: 50/s, count: 3000, keys: 3, retry: jitter-up, tries: 3}
  - {name: down, at: 1s, volley: 700, keys: 2, every: 7ms, retry: jitter-down}
  - {name: early, at: 500ms, pace: 7/s, count: 100, keys: up, retry: early}
  - {name: again, rest: 2s, volley: 20, keys: down, retry: jitter-up}
seed: 7
`
	crossing = `limit: {burst: 10, rate: 5/s}
phases:
  - {name: a, retry: jitter-up, vary: {query: q}, arrivals: [{at: 30ms, key: b, count: 900}, {at: 0s}, {at: 50ms, key: b}, {at: 60ms, key: b, count: 600}, {at: 61ms, key: b}, {at: 61ms, key: b, count: 2}, {at: 61ms}]}
  - {name: b, at: 40ms, pace: 1000/s, count: 100, keys: 4, vary: {query: q}, retry: jitter-down}
  - {name: c, at: 40ms, volley: 300, keys: a, release: last-byte, vary: {header: X-Q, value: "{other}", other: b}}
`
)

// A scenario has the same plan in every version of hammer: who fires one again fires what
// was fired. The fingerprints are of all shots, with all of their fields.
func TestPlansStayAsTheyWere(t *testing.T) {
	tests := []struct {
		name, file string
		keys       int
		shots      int
		want       string
	}{
		{"by chance", byChance, 0, 10740, "97b6d29be55235552f8ec98b"},
		{"by chance on given keys", byChance, 9, 10740, "f282661ee11a8e0a81030b9c"},
		{"crossing", crossing, 0, 2506, "473c527a72b795813afce50b"},
		{"crossing on given keys", crossing, 9, 2506, "8543eabbbc79207cd8525c2d"},
	}
	for _, tt := range tests {
		p := planOf(t, tt.file, tt.keys)
		h := sha256.New()
		for shot := range p.Shots.All() {
			fmt.Fprintf(h, "%+v\n", shot)
		}
		fmt.Fprintf(h, "%v %v %+v %+v %v %v", p.Phases, p.Keys, p.Attacks, p.Waits, p.Actions, p.Length)
		if got := fmt.Sprintf("%x", h.Sum(nil)[:12]); got != tt.want || p.Shots.Len() != tt.shots {
			t.Errorf("%s: got %d shots, fingerprint %s, want %d, %s", tt.name, p.Shots.Len(), got, tt.shots, tt.want)
		}
	}
}

func planOf(t *testing.T, file string, keys int) Plan {
	t.Helper()
	s, err := Parse("plan.yaml", []byte(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	var supply Supply
	for i := range keys {
		supply.Given = append(supply.Given, fmt.Sprint("key ", i))
	}
	p, err := s.Plan(supply)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The stream is what sorting all shots by their moments gives, and what is told of it
// without reading it is true.
func TestShotsAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []Shot
		for range rapid.IntRange(0, 30).Draw(t, "shots") {
			list = append(list, Shot{At: rapid.Int64Range(0, 9).Draw(t, "at"), Phase: rapid.Int32Range(0, 2).Draw(t, "phase"),
				Key: int32(len(list)), Cost: 1, Tries: rapid.Int32Range(0, 2).Draw(t, "tries")})
		}
		shots := ShotsOf(list).Behind(5)
		want := slices.Clone(list)
		slices.SortStableFunc(want, func(a, b Shot) int { return cmp.Compare(a.At, b.At) })
		counts, returns := make([]int64, 3), 0
		for i := range want {
			want[i].Seq = int64(i) + 6
			counts[want[i].Phase]++
			returns += int(want[i].Tries)
		}
		if got := slices.Collect(shots.All()); !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%+v\nwant\n%+v", got, want)
		}
		if got := shots.Count(3); shots.Len() != len(want) || !reflect.DeepEqual(got, counts) || shots.Returns() != returns {
			t.Errorf("got %d shots, %v by phase, %d returns, want %d, %v, %d", shots.Len(), got, shots.Returns(), len(want), counts, returns)
		}
		first, ok := shots.First()
		if n := len(want); n > 0 && (!ok || first != want[0] || shots.Last() != want[n-1].At) || n == 0 && ok {
			t.Errorf("got %+v first and %d last of %+v", first, shots.Last(), want)
		}
	})
}

// A part of a plan has the shots that the whole has of it, chances and all.
func TestShotsOfAPart(t *testing.T) {
	p := planOf(t, byChance, 0)
	n := int64(7)
	var want []Shot
	for shot := range p.Shots.All() {
		if shot.Phase%2 == 1 {
			n++
			shot.Seq = n
			want = append(want, shot)
		}
	}
	got := slices.Collect(p.Shots.Of(func(phase int32) bool { return phase%2 == 1 }).Behind(7).All())
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %d shots that are not the %d of the whole", len(got), len(want))
	}
	// Of 900, 600 and 2 at once four, three and one, and of 300 on each of two keys two each.
	if got := planOf(t, crossing, 0).Shots.Volleys(); got != 12 {
		t.Errorf("got %d volleys, want 12", got)
	}
}

// A plan takes memory for its keys, and none for its shots.
func TestPlanTakesNoMemoryForShots(t *testing.T) {
	s := &Scenario{Limits: []Limit{{Burst: 1, Rate: Rate{1, time.Second}}},
		Phases: []Phase{{Name: "long", Pace: Rate{100_000, time.Second}, Count: 1000, Keys: Keys{Fresh: 100}}}}
	plan := func() Plan {
		p, err := s.Plan(Supply{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	few := testing.AllocsPerRun(1, func() { plan() })
	s.Phases[0].Count = 5_000_000
	if many := testing.AllocsPerRun(1, func() { plan() }); many > few {
		t.Errorf("got %v allocations for 500,000,000 shots, want the %v for 100,000", many, few)
	}
	r := plan().Shots.Read()
	if n := testing.AllocsPerRun(1000, func() { r.Next() }); n > 0 {
		t.Errorf("got %v allocations a shot, want none", n)
	}
	s.Phases[0].Count = 50_000_000
	if _, err := s.Plan(Supply{}); err == nil {
		t.Error("got no error for 5,000,000,000 shots")
	}
}
