package library

import (
	"strings"
	"testing"
	"time"

	"github.com/ratehammer/ratehammer/scenarios"
)

// Whatever the rate, who is watched is watched for longer than half a minute, with no
// more than some thousand requests.
func TestVigilIsLongEnough(t *testing.T) {
	for _, rate := range []scenarios.Rate{{Count: 5, Per: time.Second}, {Count: 1, Per: 4 * time.Second}, {Count: 2000, Per: time.Second}, {Count: 10, Per: 10 * time.Second}} {
		d := newDesign(scenarios.Limit{Burst: 10, Rate: rate, Key: scenarios.Key{Kind: scenarios.KeyHeader, Name: "X-Api-Key"}}, Circumstances{})
		s, left := d.lay("vigil", []Trap{vigil()})
		if len(left) > 0 {
			t.Fatalf("%v: got %v left out, want nothing", rate, left)
		}
		p, err := s.Plan(scenarios.Supply{})
		if err != nil {
			t.Fatal(err)
		}
		shot, _ := p.Shots.First()
		first, last := shot.At, p.Shots.Last()
		if watched := time.Duration(last - first); watched < 30*time.Second || p.Most() > 2500 {
			t.Errorf("%v: got %v with %d requests, want more than 30s with at most 2500", rate, watched, p.Most())
		}
	}
	if !strings.Contains(Unwatched, Vigil.String()) {
		t.Errorf("got %q, want it to name %v", Unwatched, Vigil)
	}
}
