package virtual

import (
	"reflect"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/cmd/target/limiter"
	"github.com/ratehammer/ratehammer/results"
	"github.com/ratehammer/ratehammer/scenarios"
)

func fire(t *testing.T, phases ...scenarios.Phase) map[string][]results.Hit {
	t.Helper()
	l := scenarios.Limit{Burst: 5, Rate: scenarios.Rate{Count: 5, Per: time.Second}}
	s := scenarios.Scenario{Limits: []scenarios.Limit{l}, Phases: phases}
	p, err := s.Plan(scenarios.Supply{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := limiter.NewFixedWindow(scenarios.Rate{Count: 5, Per: time.Second}, limiter.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	hits := map[string][]results.Hit{}
	for _, b := range Run(p, Client{Answers: scenarios.DefaultAnswers(), Jitter: time.Millisecond}, WAN(), &Limited{Algorithm: w}, 7) {
		for _, h := range b.Hits {
			h.Conn, h.Fresh = 0, false // all share them
			hits[h.Key] = append(hits[h.Key], h)
		}
	}
	return hits
}

// An attack reacts to answers, and no other request is sent or answered
// otherwise because of it.
func TestAttackLeavesTheRestAsItWas(t *testing.T) {
	walk := scenarios.Phase{Name: "walk", Pace: scenarios.Rate{Count: 20, Per: time.Second}, Count: 100, Keys: scenarios.Keys{Fresh: 1}}
	at := 300 * time.Millisecond
	edge := scenarios.Phase{Name: "edge", At: &at, Attack: scenarios.TacticBoundary, Rounds: 1, Keys: scenarios.Keys{Fresh: 1}}
	alone, both, again := fire(t, walk), fire(t, walk, edge), fire(t, walk, edge)
	if !reflect.DeepEqual(alone["walk/1"], both["walk/1"]) {
		t.Errorf("the walk is another one beside an attack")
	}
	if !reflect.DeepEqual(both, again) {
		t.Errorf("two runs of one seed differ")
	}
	// Around an edge 5 and, one of them having been found by the polls, 4 pass.
	most, attack := 0, both["edge/1"]
	for i := range attack {
		n := 0
		for _, h := range attack {
			if h.Outcome == results.Admitted && h.Sent >= attack[i].Sent && h.Sent < attack[i].Sent+int64(300*time.Millisecond) {
				n++
			}
		}
		most = max(most, n)
	}
	if most < 9 {
		t.Errorf("got at most %d admitted within 300 ms, want 9", most)
	}
}

// A saturation has as many requests under way as it has connections, and lets nobody
// else be served otherwise than its load makes it.
func TestSaturation(t *testing.T) {
	hits := fire(t, scenarios.Phase{Name: "flood", Saturate: 4, For: time.Second, Count: 70, Keys: scenarios.Keys{Fresh: 1}})["flood/1"]
	if len(hits) != 70 {
		t.Fatalf("got %d requests, want the 70 that it may come to", len(hits))
	}
	for _, h := range hits {
		n := 0
		for _, other := range hits {
			if other.Planned <= h.Planned && h.Planned < other.Done {
				n++
			}
		}
		if n > 4 {
			t.Errorf("got %d under way when hit %d was due, want 4", n, h.Seq)
		}
	}
	if rest := fire(t, scenarios.Phase{Name: "flood", Saturate: 4, For: time.Second, Keys: scenarios.Keys{Fresh: 1}})["flood/1"]; len(rest) < 70 || rest[len(rest)-1].Planned >= int64(time.Second) {
		t.Errorf("got %d requests, the last at %v, want more, within a second", len(rest), time.Duration(rest[len(rest)-1].Planned))
	}
}
